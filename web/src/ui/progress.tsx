import { Progress as Base } from '@base-ui/react/progress';
import type { ReactNode } from 'react';
import { cx } from '../lib/cx.ts';

type Props = {
  /** 0 to 100; null while unknown. */
  value: number | null;
  /** Current activity; shown above the bar and announced. */
  label: ReactNode;
  /** Shown right of the label, such as steps or time left. Defaults to the percentage. */
  aside?: ReactNode;
  /** Hides the label visually. */
  hideLabel?: boolean;
  className?: string;
};

export function Progress({ value, label, aside, hideLabel = false, className }: Props) {
  return (
    // Screen readers read all decimals.
    <Base.Root value={value === null ? null : Math.floor(value)} className={cx('block', className)}>
      <div
        className={hideLabel ? 'sr-only' : 'mb-1.5 flex items-baseline justify-between gap-3 text-compact'}
      >
        <Base.Label className="min-w-0 truncate font-medium">{label}</Base.Label>
        <span className="shrink-0 text-muted tabular-nums">
          {aside ?? (value === null ? '' : `${Math.floor(value)}%`)}
        </span>
      </div>
      <Base.Track className="h-1.5 overflow-hidden rounded-full bg-hover">
        <Base.Indicator className="h-full rounded-full bg-accent transition-[width] duration-300 data-indeterminate:w-1/3 data-indeterminate:animate-[sweep_1.4s_ease-in-out_infinite]" />
      </Base.Track>
    </Base.Root>
  );
}
