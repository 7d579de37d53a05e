import { NAME_LENGTH_MAX, type Objective } from '@bakehouse/contract/limits';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useEffectEvent } from 'react';
import { currencyChoice } from '../../../../lib/format/currency.ts';
import { countOf } from '../../../../lib/format/words.ts';
import { Button, ButtonLink } from '../../../../ui/button.tsx';
import { Callout } from '../../../../ui/callout.tsx';
import { Field } from '../../../../ui/field.tsx';
import { Input } from '../../../../ui/input.tsx';
import { errorMessage } from '../../../../ui/notify.ts';
import { LoadingRegion, Skeleton } from '../../../../ui/skeleton.tsx';
import { assetQuery } from '../../../assets/asset-queries.ts';
import { FileField } from '../../../assets/choice/file-field.tsx';
import { isDataFile } from '../../../assets/files/data-file.ts';
import { selectedDataFile } from '../../../assets/files/file-calls.ts';
import { useBasis, useFirstRows } from '../../parameters/basis.ts';
import { FormatFields, objectiveSentence, readingOf } from '../../parameters/format.tsx';
import { parameterProblems } from '../../parameters/parameter-problems.ts';
import { RewardFields } from '../../parameters/rewards/reward-fields.tsx';
import { SamplePair } from '../../parameters/sample-pair.tsx';
import { SampleParts } from '../../parameters/sample-parts.tsx';
import { SampleRating, SampleReference } from '../../parameters/samples.tsx';
import { presetOf, presetValues } from '../../parameters/suggested-parameters.ts';
import { isTextFile } from '../../parameters/training-parameters.ts';
import { ScanNotice } from '../../readings/readings.tsx';
import { costSentence } from '../review/cost-sentence.ts';
import { StartNotices } from '../review/start-notices.tsx';
import { BaseModelField } from '../steps/base-model-field.tsx';
import type { Suggestion, Wizard } from '../wizard-state.ts';

/** Too few rows to learn from, according to OpenAI. */
const ROWS_FEW = 10;

/** Appended to the dataset's name. */
const SUFFIX = ' model';

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
      {choice.isUnrecognised && (
        <>
          {choice.formatProblem === null && !choice.isComplete && (
            <Callout tone="warn" title="The columns were not recognised">
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

type Props = {
  wizard: Pick<Wizard, 'state' | 'validation' | 'reading'>;
  /** All fields are filled in: the server's estimate is available or pending. */
  isComplete: boolean;
  wayOut: ReactNode;
};

/** Cost and duration of the fine-tune in one sentence, with one example as the model reads it. */
function QuickEstimate({ wizard: { state, validation, reading }, isComplete, wayOut }: Props) {
  const currency = currencyChoice.use();
  if (!validation) return isComplete ? <Pending /> : null;
  const { data, critical_errors } = validation;
  if (critical_errors.length > 0 || !data) return null;
  const [example] = data.samples;
  const { data_format: format, objective } = state.parameters;
  const learnt = objectiveSentence(format, objective);
  return (
    <>
      <div role="status" className="text-balance">
        <p className="font-medium text-base">{costSentence(validation, state.ceiling, currency)}</p>
        {learnt && <p className="mt-1">{learnt}</p>}
      </div>
      {reading && <ScanNotice reading={reading} />}
      {data.rows_kept < ROWS_FEW && (
        <Callout tone="warn" title={`Only ${countOf(data.rows_kept, 'row')} to learn from`} action={wayOut}>
          The model will learn little. Add rows: 50 or more work better.
        </Callout>
      )}
      {data.rows_dropped > 0 && (
        <p className="text-[0.8125rem] text-muted">
          {countOf(data.rows_dropped, 'row')} cannot be used and will be left out. The review under All
          settings says why.
        </p>
      )}
      {example && (
        <figure>
          <figcaption className="mb-1.5 text-[0.8125rem] text-muted">
            One example as the model reads it
            {captionEnd(example, objective)}
          </figcaption>
          <div className="rounded-xl bg-subtle p-4">
            {example.rejected ? (
              <SamplePair
                sample={example}
                rejected={example.rejected}
                view="parts"
                className="line-clamp-[12]"
              />
            ) : (
              <>
                {example.label !== null && <SampleRating isGood={example.label} />}
                <SampleParts parts={example.parts} className="line-clamp-[16]" />
                {example.reference !== null && <SampleReference reference={example.reference} />}
              </>
            )}
          </div>
        </figure>
      )}
    </>
  );
}

type Example = NonNullable<NonNullable<Wizard['validation']>['data']>['samples'][number];

function captionEnd({ rejected, label }: Example, objective: Objective): string {
  if (objective === 'grpo') return '. It writes several answers to it.';
  if (rejected) return ', with both answers.';
  if (label === null) return '. It learns to write the marked part.';
  return label ? '. The marked part becomes more likely.' : '. The marked part becomes less likely.';
}

function Pending() {
  return (
    <LoadingRegion className="flex flex-col gap-6">
      <Skeleton className="h-6 w-full max-w-md" />
      <Skeleton className="h-36 w-full rounded-xl" />
    </LoadingRegion>
  );
}

/** Fills in the dataset's suggestions, and requests an estimate once all fields are set. */
function useQuickChoice({
  state,
  wantedFile,
  dispatch,
  checkChoice,
}: Pick<Wizard, 'state' | 'wantedFile' | 'dispatch' | 'checkChoice'>) {
  const { baseModelId, datasetId, fileName, parameters } = state;
  const dataset = useQuery({ ...assetQuery(datasetId ?? ''), enabled: datasetId !== null });
  const rows = useFirstRows(state);
  const basis = useBasis(state);

  const suggest = useEffectEvent((values: Suggestion) => dispatch({ do: 'suggest', values }));
  const title = dataset.data?.title;
  const file = dataset.data && selectedDataFile(dataset.data, wantedFile);
  useEffect(() => {
    if (title) suggest({ name: title.slice(0, NAME_LENGTH_MAX - SUFFIX.length).trimEnd() + SUFFIX });
  }, [title]);
  useEffect(() => {
    if (file) suggest({ fileName: file });
  }, [file]);
  useEffect(() => {
    if (rows.data) suggest(readingOf(rows.data));
  }, [rows.data]);

  const applyPreset = useEffectEvent(() => {
    const values = presetValues('suggested', basis, parameters.objective, parameters.adaptation);
    if (values) dispatch({ do: 'parameters', values });
  });
  useEffect(
    () => applyPreset(),
    [basis?.rows, basis?.baseBytes, parameters.objective, parameters.adaptation],
  );

  const isComplete =
    baseModelId !== null &&
    fileName !== null &&
    presetOf(parameters, basis) === 'suggested' &&
    Object.keys(parameterProblems(parameters, fileName)).length === 0;
  const asked = isComplete ? JSON.stringify([baseModelId, datasetId, fileName, parameters]) : null;
  const check = useEffectEvent(() => checkChoice());
  useEffect(() => {
    if (asked !== null) check();
  }, [asked]);

  return {
    dataset: dataset.data,
    error: dataset.error ?? rows.error,
    isComplete,
    /** The user must choose the columns. */
    isUnrecognised: rows.data?.format === null && fileName !== null && !isTextFile(fileName),
    formatProblem: rows.data?.format_problem ?? null,
  };
}
