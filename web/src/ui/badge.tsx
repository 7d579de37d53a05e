import { cva, type VariantProps } from 'class-variance-authority';
import type { ReactNode } from 'react';
import { cx } from '../lib/cx.ts';

const badgeClass = cva(
  'inline-flex h-5 max-w-full items-center gap-1.5 whitespace-nowrap rounded-md px-1.5 font-medium text-xs',
  {
    variants: {
      tone: {
        neutral: 'bg-subtle text-muted',
        good: 'bg-good-soft text-good',
        warn: 'bg-warn-soft text-warn',
        bad: 'bg-bad-soft text-bad',
        info: 'bg-info-soft text-info',
        accent: 'bg-accent-soft text-accent-text',
      },
    },
    defaultVariants: { tone: 'neutral' },
  },
);

export type Tone = NonNullable<VariantProps<typeof badgeClass>['tone']>;

type Props = { tone?: Tone; className?: string; children: ReactNode };

export function Badge({ tone, className, children }: Props) {
  return <span className={cx(badgeClass({ tone }), className)}>{children}</span>;
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
