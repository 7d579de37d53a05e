import type { ReactNode } from 'react';
import { cx } from '../lib/cx.ts';

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'info' | 'accent';

const tones: Record<Tone, string> = {
  neutral: 'bg-subtle text-muted',
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  info: 'bg-info-soft text-info',
  accent: 'bg-accent-soft text-accent-text',
};

export function Badge({
  tone = 'neutral',
  className,
  children,
}: {
  tone?: Tone;
  className?: string;
  children: ReactNode;
}) {
  return (
    <span
      className={cx(
        'inline-flex h-5 max-w-full items-center gap-1.5 whitespace-nowrap rounded-md px-1.5 font-medium text-xs',
        tones[tone],
        className,
      )}
    >
      {children}
    </span>
  );
}

/** A user-entered tag. Truncates long text and shows all of it in a tooltip. */
export function TagBadge({ tag }: { tag: string }) {
  return (
    <Badge>
      <span className="truncate" title={tag}>
        {tag}
      </span>
    </Badge>
  );
}
