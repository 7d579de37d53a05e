import type { FineTuneValidation } from '@bakehouse/contract/training';
import { cx } from '../../../lib/cx.ts';

type Sample = NonNullable<FineTuneValidation['data']>['samples'][number];

type Props = Pick<Sample, 'parts'> & {
  /** What is learnt stands out. */
  isMarked?: boolean;
  className?: string | undefined;
};

/** The text of one example, with what is learnt of it. */
export function SampleParts({ parts, isMarked = true, className }: Props) {
  return (
    <p className={cx('whitespace-pre-wrap font-mono text-xs [overflow-wrap:anywhere]', className)}>
      {parts.map(({ text, learnt }, at) =>
        learnt && isMarked ? (
          <mark key={at} className="rounded bg-accent-soft text-accent-text">
            {text}
          </mark>
        ) : (
          text
        ),
      )}
    </p>
  );
}
