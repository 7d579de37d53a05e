import { ButtonLink } from '../../../../ui/button.tsx';
import { Callout } from '../../../../ui/callout.tsx';
import { ReadingNotice } from '../../readings/reading-notice.tsx';
import type { Wizard } from '../wizard-state.ts';
import { CostEstimate } from './cost-estimate.tsx';
import { DataSummary } from './data-summary.tsx';
import { RecommendedGpus } from './recommended-gpus.tsx';

/** What will be trained, on what, where, and what it costs: the same quote that is held. */
export function StepReview({ wizard }: { wizard: Wizard }) {
  const { state, validation, reading, unaffordable, mayHaveBegun, problems, dispatch } = wizard;
  if (!validation) return null;
  const { cost_estimate: cost, data, placement, warnings, recommendations } = validation;
  return (
    <div className="flex flex-col gap-6">
      {mayHaveBegun && <MayHaveBegun as={mayHaveBegun} />}
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
        ceilingProblem={problems.ceiling}
        onCeiling={(ceiling) => dispatch({ do: 'ceiling', ceiling })}
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

/** In the words of a transfer whose answer is lost. */
function MayHaveBegun({ as }: { as: NonNullable<Wizard['mayHaveBegun']> }) {
  return (
    <div role="alert">
      <Callout
        tone="warn"
        title="Training may already have started"
        action={
          <ButtonLink size="sm" to="/llm-training">
            See your runs
          </ButtonLink>
        }
      >
        {as === 'as chosen'
          ? 'If it did start, trying again won’t start it a second time.'
          : 'If it did start, what you start now is a second run.'}
      </Callout>
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
