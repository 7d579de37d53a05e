import type { FineTuneValidation } from '@bakehouse/contract/fine-tuning';
import { cx } from '../../../lib/cx.ts';

type Sample = NonNullable<FineTuneValidation['data']>['samples'][number];

type Props = Pick<Sample, 'parts'> & {
  /** Highlights the learned parts. */
  isMarked?: boolean;
  className?: string | undefined;
};

/** The text of an example with its learned parts. */
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
