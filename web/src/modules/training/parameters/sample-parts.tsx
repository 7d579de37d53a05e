import type { FineTuneValidation } from '@bakehouse/contract/training';
import { cx } from '../../../lib/cx.ts';

type Sample = NonNullable<FineTuneValidation['data']>['samples'][number];

/** The text of one example, with what is learnt of it. */
export function SampleParts({
  parts,
  className,
}: Pick<Sample, 'parts'> & { className?: string | undefined }) {
  return (
    <p className={cx('whitespace-pre-wrap font-mono text-xs [overflow-wrap:anywhere]', className)}>
      {parts.map(({ text, learnt }, at) =>
        learnt ? (
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
