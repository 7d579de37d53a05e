import type { ReactNode } from 'react';

/** One component, under its name, in several states. */
export function Specimen({ name, children }: { name: string; children: ReactNode }) {
  return (
    <section aria-label={name}>
      <h3 className="mb-2 text-muted text-xs">{name}</h3>
      <div className="flex flex-wrap items-start gap-3">{children}</div>
    </section>
  );
}
