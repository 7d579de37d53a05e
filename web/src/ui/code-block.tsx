import { useState } from 'react';
import { cx } from '../lib/cx.ts';
import { CopyButton } from './copy-button.tsx';
import { Segmented } from './segmented.tsx';

type CodeBlockProps = {
  code: string;
  /** The copied text, if it differs from the text shown, such as for a masked secret. */
  copied?: string;
  /** Makes the block a named region. Omit it in lists of many blocks. */
  label?: string;
  className?: string;
};

/** Code or output in monospace, with a copy button. */
export function CodeBlock({ code, copied = code, label, className }: CodeBlockProps) {
  return (
    <div className={cx('flex min-w-0 items-start rounded-xl bg-subtle', className)}>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls sideways, so the keyboard must reach it */}
      <pre
        tabIndex={0}
        role={label === undefined ? undefined : 'region'}
        aria-label={label}
        className="min-w-0 flex-1 overflow-x-auto rounded-xl px-4 py-3.5 font-mono text-compact leading-5"
      >
        <code>{code}</code>
      </pre>
      {/* Next to the code so that it doesn't cover scrolled text. */}
      <div className="p-2">
        <CopyButton text={copied} label={label === undefined ? 'Copy' : `Copy: ${label}`} />
      </div>
    </div>
  );
}

type CodeTabsProps = { examples: readonly { label: string; code: string }[]; className?: string };

/** The same request in several languages. */
export function CodeTabs({ examples, className }: CodeTabsProps) {
  const [chosen, setChosen] = useState(0);
  const example = examples[chosen] ?? examples[0];
  if (!example) return null;
  return (
    <div className={className}>
      <Segmented
        label="Language"
        className="mb-2"
        value={String(chosen)}
        onChange={(index) => setChosen(Number(index))}
        options={examples.map(({ label }, index) => ({ value: String(index), label }))}
      />
      <CodeBlock code={example.code} label={example.label} />
    </div>
  );
}
