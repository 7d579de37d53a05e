import { Check } from 'lucide-react';
import { cx } from '../lib/cx.ts';

/** Wizard progress. `current` is zero-based; narrow screens show only the current label. */
export function Stepper({ steps, current }: { steps: readonly string[]; current: number }) {
  return (
    <ol className="flex items-center gap-2">
      {steps.map((label, index) => (
        <li
          key={label}
          aria-current={index === current ? 'step' : undefined}
          className={cx(
            'flex items-center gap-2 text-compact',
            index < steps.length - 1 && 'flex-1',
            index === current ? 'text-ink' : 'text-muted',
          )}
        >
          <span
            className={cx(
              'flex size-5 shrink-0 items-center justify-center rounded-full font-semibold text-2xs tabular-nums',
              index < current && 'bg-accent-soft text-accent-text',
              index === current && 'bg-accent text-accent-ink',
              index > current && 'bg-hover text-muted',
            )}
          >
            {index < current ? <Check aria-hidden className="size-3" strokeWidth={3} /> : index + 1}
          </span>
          <span className={cx('whitespace-nowrap font-medium', index !== current && 'max-sm:sr-only')}>
            {label}
            {index < current && <span className="sr-only"> (done)</span>}
          </span>
          {index < steps.length - 1 && <span aria-hidden className="h-px min-w-2 flex-1 bg-line-strong" />}
        </li>
      ))}
    </ol>
  );
}
