import type { DataReading, FineTuneValidation } from '@bakehouse/contract/training';
import { ButtonLink } from '../../../../ui/button.tsx';
import { Callout } from '../../../../ui/callout.tsx';
import { ReadingNotice } from '../../readings/reading-notice.tsx';
import type { WizardState } from '../create-model-wizard-state.ts';
import { CostEstimate } from './cost-estimate.tsx';
import { DataSummary } from './data-summary.tsx';
import { RecommendedGpus } from './recommended-gpus.tsx';

type Props = {
  state: WizardState;
  validation: FineTuneValidation;
  /** A long file that is still being read; its figures are estimates. */
  reading: DataReading | null;
  /** Why there is too little credit to start. */
  unaffordable: string | null;
  /** What is wrong with the ceiling, once it was tried. */
  ceilingProblem: string | undefined;
  onCeiling: (ceiling: string) => void;
};

/** What will be trained, on what, where, and what it costs: the same quote that is held. */
export function StepReview({ state, validation, reading, unaffordable, ceilingProblem, onCeiling }: Props) {
  const { cost_estimate: cost, data, placement, warnings, recommendations } = validation;
  return (
    <div className="flex flex-col gap-6">
      {unaffordable && <TooLittleCredit reason={unaffordable} />}
      {validation.critical_errors.length > 0 && (
        <Callout tone="bad" title="This run cannot start">
          {validation.critical_errors[0]}
        </Callout>
      )}
      {reading && <ReadingNotice reading={reading} />}
      <CostEstimate
        cost={cost}
        ceiling={state.ceiling}
        ceilingProblem={ceilingProblem}
        onCeiling={onCeiling}
      />
      <Callout>{placement.description}</Callout>
      {warnings.length > 0 && (
        <Callout tone="warn" title="Worth knowing">
          <ul className="list-disc pl-4">
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </Callout>
      )}
      {data && <DataSummary data={data} fileName={state.fileName} isEstimate={validation.reading !== null} />}
      <RecommendedGpus recommended={recommendations.recommended_gpus} />
    </div>
  );
}

function TooLittleCredit({ reason }: { reason: string }) {
  return (
    <Callout
      tone="bad"
      title={reason}
      action={
        <ButtonLink size="sm" to="/buy-bagels">
          Purchase Fine-tune Credits
        </ButtonLink>
      }
    >
      Nothing has started. Your choices stay here until you close this panel.
    </Callout>
  );
}
