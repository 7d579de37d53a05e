import type { FineTuneValidation } from '@bakehouse/contract/fine-tuning';
import { formatBytes } from '@bakehouse/contract/labels';
import { countOf } from '../../../../lib/format/count-of.ts';
import { formatNumber } from '../../../../lib/format/format-number.ts';
import { Disclosure } from '../../../../ui/disclosure.tsx';
import { Figure } from '../../../../ui/figure.tsx';
import { SampleList } from '../../parameters/sample-list.tsx';
import { TokenHistogram } from '../../parameters/token-histogram.tsx';

type Props = {
  data: NonNullable<FineTuneValidation['data']>;
  fileName: string | null;
  /** The figures are extrapolated from the first rows of a long file. */
  isEstimate: boolean;
};

/** Data for training: row and token counts, skipped rows, and the first examples. */
export function DataSummary({ data, fileName, isEstimate }: Props) {
  const note = isEstimate ? 'estimate' : undefined;
  return (
    <>
      <dl className="grid grid-cols-2 gap-x-6 gap-y-4 sm:grid-cols-4">
        <Figure label="Rows kept" note={note}>
          {formatNumber(data.rows_kept)} of {formatNumber(data.rows_total)}
        </Figure>
        <Figure label="Rows dropped" note={note}>
          {formatNumber(data.rows_dropped)}
        </Figure>
        <Figure label="Rows cut short" note={note}>
          {formatNumber(data.rows_truncated)}
        </Figure>
        <Figure label="Steps" note={note}>
          {formatNumber(data.steps_total)}
        </Figure>
        <Figure label="Tokens per epoch" note={note}>
          {formatNumber(data.train_tokens)}
        </Figure>
        <Figure label="Examples" note={data.packs === null ? note : `in ${countOf(data.packs, 'sequence')}`}>
          {formatNumber(data.train_examples)} + {formatNumber(data.eval_examples)} held out
        </Figure>
        <Figure label="Trainable parameters">{formatNumber(data.trainable_parameters)}</Figure>
        <Figure label="Memory needed">{formatBytes(data.memory_bytes)}</Figure>
      </dl>
      {data.dropped.length > 0 && (
        <Disclosure title={`Dropped rows (${formatNumber(data.rows_dropped)})`}>
          <ul className="flex flex-col gap-1 text-compact">
            {data.dropped.map(({ line, reason }) => (
              <li key={line}>
                <span className="font-mono">
                  {fileName}:{line}
                </span>{' '}
                {reason}
              </li>
            ))}
          </ul>
        </Disclosure>
      )}
      <TokenHistogram bins={data.token_histogram} />
      <SampleList samples={data.samples} format={data.format} />
    </>
  );
}
