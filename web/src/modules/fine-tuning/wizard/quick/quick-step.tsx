import { Button, ButtonLink } from '../../../../ui/button.tsx';
import { Callout } from '../../../../ui/callout.tsx';
import { Field } from '../../../../ui/field.tsx';
import { Input } from '../../../../ui/input.tsx';
import { errorMessage } from '../../../../ui/notify.ts';
import { FileField } from '../../../datasets/choice/file-field.tsx';
import { isDataFile } from '../../../datasets/files/data-file.ts';
import { FormatFields } from '../../parameters/format-fields.tsx';
import { RewardFields } from '../../parameters/rewards/reward-fields.tsx';
import { StartNotices } from '../review/start-notices.tsx';
import { BaseModelField } from '../steps/base-model-field.tsx';
import type { Wizard } from '../wizard-state.ts';
import { QuickEstimate } from './quick-estimate.tsx';
import { useQuickChoice } from './use-quick-choice.ts';

/** A fine-tune on one screen: model and data, cost, and an example. */
export function QuickStep({ wizard }: { wizard: Wizard }) {
  const { state, problems, dispatch } = wizard;
  const choice = useQuickChoice(wizard);
  const { dataset } = choice;
  const files = dataset?.files.filter(({ path }) => isDataFile(path)) ?? [];
  const toDataset = (
    <ButtonLink size="sm" to="/dataset/$id/description" params={{ id: state.datasetId ?? '' }} replace>
      Open the dataset
    </ButtonLink>
  );
  return (
    <div className="flex flex-col gap-6">
      <StartNotices wizard={wizard} wayOut={toDataset} />
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label="Model name" error={problems.name}>
          <Input
            value={state.name}
            autoComplete="off"
            onChange={(event) => dispatch({ do: 'change', values: { name: event.target.value } })}
          />
        </Field>
        <BaseModelField wizard={wizard} />
      </div>
      {dataset && files.length !== 1 && (
        <FileField
          datasetId={dataset.dataset_id}
          value={state.fileName}
          onChange={(fileName) => dispatch({ do: 'change', values: { fileName } })}
          error={problems.fileName}
        />
      )}
      {choice.error && (
        <Callout tone="bad" title="The data could not be read" action={toDataset}>
          {errorMessage(choice.error)}
        </Callout>
      )}
      {choice.isUnrecognized && (
        <>
          {choice.formatProblem === null && !choice.isComplete && (
            <Callout tone="warn" title="The columns were not recognized">
              Choose the question column and the answer column.
            </Callout>
          )}
          <FormatFields
            state={state}
            problems={problems}
            onChange={(values) => dispatch({ do: 'parameters', values })}
            onSuggest={(values) => dispatch({ do: 'suggest', values })}
          />
        </>
      )}
      <QuickRewards wizard={wizard} />
      {wizard.checkError ? (
        <Callout
          tone="bad"
          title="The price could not be loaded"
          action={
            <Button size="sm" onClick={wizard.checkChoice}>
              Try again
            </Button>
          }
        >
          {errorMessage(wizard.checkError)}
        </Callout>
      ) : (
        <QuickEstimate wizard={wizard} isComplete={choice.isComplete} wayOut={toDataset} />
      )}
    </div>
  );
}

/** Rewards, for objectives in which the model writes the answers itself. */
function QuickRewards({ wizard: { state, problems, dispatch } }: { wizard: Wizard }) {
  if (state.parameters.objective !== 'grpo') return null;
  return (
    <RewardFields
      rewards={state.parameters.rewards}
      problem={problems.rewards}
      onChange={(rewards) => dispatch({ do: 'parameters', values: { rewards } })}
    />
  );
}
