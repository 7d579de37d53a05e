import { Callout } from '../../../../ui/callout.tsx';
import { Disclosure } from '../../../../ui/disclosure.tsx';
import { objectiveSentence } from '../../parameters/objective-sentence.ts';
import { ScanNotice } from '../../readings/scan-notice.tsx';
import type { Wizard } from '../wizard-state.ts';
import { CostEstimate } from './cost-estimate.tsx';
import { DataSummary } from './data-summary.tsx';
import { RecommendedGpus } from './recommended-gpus.tsx';
import { RunSummary } from './run-summary.tsx';
import { StartNotices } from './start-notices.tsx';

/** The review: data, model, placement and cost, which equals the amount held. */
export function StepReview({ wizard }: { wizard: Wizard }) {
  const { state, validation, reading, problems, dispatch } = wizard;
  if (!validation) return null;
  const { data_format: format, objective } = state.parameters;
  const learnt = objectiveSentence(format, objective);
  const { data, placement, warnings, recommendations } = validation;
  return (
    <div className="flex flex-col gap-6">
      <StartNotices wizard={wizard} />
      <RunSummary wizard={wizard} validation={validation} />
      {learnt && <p>{learnt}</p>}
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
