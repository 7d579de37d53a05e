import type { ReactNode } from 'react';
import { Content } from './content.tsx';
import { Controls } from './controls.tsx';
import { Feedback } from './feedback.tsx';
import { Overlays } from './overlays.tsx';

/**
 * Every component in every state, in both themes side by side. Only the development server has this page, at
 * /components.html. Popups and charts have the light theme in both columns: they follow the document's theme.
 */
export function ComponentPage() {
  return (
    <div className="grid xl:grid-cols-2">
      <Theme name="light" />
      <Theme name="dark" />
    </div>
  );
}

function Theme({ name }: { name: 'light' | 'dark' }) {
  return (
    <main
      data-theme={name}
      aria-label={`${name} theme`}
      className="min-w-0 space-y-10 bg-canvas p-4 sm:p-6 text-ink"
    >
      <Group title="Controls">
        <Controls />
      </Group>
      <Group title="Feedback">
        <Feedback />
      </Group>
      <Group title="Content">
        <Content />
      </Group>
      <Group title="Overlays">
        <Overlays />
      </Group>
    </main>
  );
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h2 className="mb-4 font-semibold text-xl tracking-tight">{title}</h2>
      <div className="space-y-6">{children}</div>
    </section>
  );
}
