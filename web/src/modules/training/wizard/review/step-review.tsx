import { formatBytes } from '@bakehouse/contract/labels';
import type { FineTuneValidation } from '@bakehouse/contract/training';
import { currencyChoice } from '../../../../lib/format/currency.ts';
import { formatNumber } from '../../../../lib/format/format-number.ts';
import { countOf } from '../../../../lib/format/words.ts';
import { Callout } from '../../../../ui/callout.tsx';
import { Disclosure } from '../../../../ui/disclosure.tsx';
import { Figure } from '../../../../ui/figure.tsx';
import { objectiveSentence } from '../../parameters/format.tsx';
import { SampleList } from '../../parameters/samples.tsx';
import { TokenHistogram } from '../../parameters/token-histogram.tsx';
import { ScanNotice } from '../../readings/readings.tsx';
import type { Wizard } from '../wizard-state.ts';
import { CostEstimate } from './cost-estimate.tsx';
import { costSentence } from './cost-sentence.ts';
import { RecommendedGpus } from './recommended-gpus.tsx';
import { StartNotices } from './start-notices.tsx';

/** The review: data, model, placement and cost, which equals the amount held. */
export function StepReview({ wizard }: { wizard: Wizard }) {
  const { state, validation, reading, problems, dispatch } = wizard;
  const currency = currencyChoice.use();
  if (!validation) return null;
  const { data_format: format, objective } = state.parameters;
  const learnt = objectiveSentence(format, objective);
  const { data, placement, warnings, recommendations } = validation;
  return (
    <div className="flex flex-col gap-6">
      <StartNotices wizard={wizard} />
      <div className="text-balance">
        <p className="font-medium text-base">{costSentence(validation, state.ceiling, currency)}</p>
        {learnt && <p className="mt-1">{learnt}</p>}
      </div>
      {reading && <ScanNotice reading={reading} />}
      {warnings.length > 0 && (
        <Callout tone="warn" title="Worth knowing">
          <ul className="list-disc pl-4">
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </Callout>
      )}
      <Disclosure title="Details" hasProblem={problems.ceiling !== undefined}>
        <div className="flex flex-col gap-6 pt-2">
          <CostEstimate
            validation={validation}
            ceiling={state.ceiling}
            ceilingProblem={problems.ceiling}
            onCeiling={(ceiling) => dispatch({ do: 'ceiling', ceiling })}
          />
          <Callout>{placement.description}</Callout>
          {data && (
            <DataSummary data={data} fileName={state.fileName} isEstimate={validation.reading !== null} />
          )}
          <RecommendedGpus recommended={recommendations.recommended_gpus} />
        </div>
      </Disclosure>
    </div>
  );
}

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
          <ul className="flex flex-col gap-1 text-[0.8125rem]">
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
