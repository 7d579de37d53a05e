import type { DataReading, FineTuneValidation } from '@bakehouse/contract/training';
import { type Dispatch, useEffect, useReducer, useState } from 'react';
import { ApiError } from '../../../lib/api/api-error.ts';
import { isRefused, isUnanswered, useIdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { isPriceChange } from '../../../lib/api/is-price-change.ts';
import type { ChosenFile } from '../../../lib/files/chosen-file.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { errorMessage, notify } from '../../../ui/notify.ts';
import { useUser } from '../../accounts/api.ts';
import { announceUpload, type Upload, uploadFiles, useUploads } from '../../assets/api.ts';
import {
  initialState,
  type Problems,
  problemsOf,
  type WizardAction,
  type WizardState,
  wizardReducer,
} from './create-model-wizard-state.ts';
import type { ModelPreset } from './model-preset.ts';
import { type CheckedChoice, useCheckedChoice } from './use-checked-choice.ts';
import { useLackOfCredit } from './use-lack-of-credit.ts';
import {
  type Estimate,
  type FineTuneChoice,
  type UploadedModel,
  useCreateUploadedModel,
  useStartFineTune,
  WIZARD_TOAST,
} from './wizard-calls.ts';

type NewModel = Omit<UploadedModel, 'idempotencyKey'>;
type Preset = Omit<ModelPreset, 'dataFile'>;

export type CreateModel = {
  state: WizardState;
  /** Those to show now. */
  problems: Problems;
  /** A call is under way: a second submit is ignored. */
  busy: boolean;
  dispatch: Dispatch<WizardAction>;
  /** What the button of the step does: go on, validate, create, start. */
  goOn: () => void;
  /** After a refusal: what was chosen stays. */
  tryAgain: () => void;
  /** What the server said of the current choice. */
  validation: FineTuneValidation | undefined;
  /** A long file that is read to its end meanwhile. */
  reading: DataReading | null;
  /** Why there is too little credit to start; nothing has started, and nothing typed is lost. */
  unaffordable: string | null;
  /** The run was to cost more than was shown: nothing has started, and the price is read again. */
  priceChanged: boolean;
  /** No answer came: the training may have begun all the same, with the choices in sight or as they were before. */
  mayHaveBegun: 'as chosen' | 'as before' | null;
  /** Whether the review leads anywhere: the run can be made and paid. */
  canStart: boolean;
  uploads: Upload[];
  modelId: string | null;
  error: Error | null;
};

/** The wizard's state with the calls that its steps make. */
export function useCreateModel(preset: Preset): CreateModel {
  const user = useUser();
  const [state, dispatch] = useReducer(wizardReducer, preset, beginning);
  const choice = choiceOf(state, user.id);
  const checked = useCheckedChoice(choice);
  const estimate = checked.validation?.cost_estimate;
  const start = useStart(checked, choice, () => dispatch({ do: 'finish' }));
  const upload = useUpload(state, dispatch);

  // What an earlier step was refused for is no longer so.
  useEffect(() => notify.dismiss(WIZARD_TOAST), [state.step]);

  const problems = problemsOf(state);
  const busy = checked.isPending || start.isPending || upload.isPending;
  const isReview = state.type !== 'upload' && state.step === 5;
  const canStart = !isReview || (start.lack === null && checked.validation?.critical_errors.length === 0);

  function goOn() {
    if (busy || !canStart) return;
    const [problem] = Object.values(problems);
    if (problem) {
      notify.failure('Validation Error', { description: problem, id: WIZARD_TOAST });
      dispatch({ do: 'continue' });
    } else if (state.type === 'upload' && state.step === 3) upload.create();
    else if (state.type === 'upload' && state.step === 4) dispatch({ do: 'finish' });
    else if (choice && state.step === 4) validate(choice);
    else if (choice && estimate && state.step === 5) start.begin(choice, estimate);
    else dispatch({ do: 'continue' });
  }

  function validate(wanted: FineTuneChoice) {
    start.reset();
    checked.check(wanted, ({ critical_errors: [critical] }) => {
      if (critical) notify.failure('Validation Failed', { description: critical, id: WIZARD_TOAST });
      else dispatch({ do: 'continue' });
    });
  }

  function tryAgain() {
    start.reset();
    upload.reset();
    dispatch({ do: 'try again' });
  }

  function change(action: WizardAction) {
    // What the server said was about another choice.
    if (action.do === 'change' || action.do === 'parameters' || action.do === 'apply') checked.forget();
    dispatch(action);
  }

  return {
    state,
    problems: state.attempts > 0 ? problems : {},
    busy,
    dispatch: change,
    goOn,
    tryAgain,
    validation: checked.validation,
    reading: checked.reading,
    unaffordable: start.unaffordable,
    priceChanged: start.priceChanged,
    mayHaveBegun: start.mayHaveBegun,
    canStart,
    uploads: upload.uploads,
    modelId: start.modelId ?? upload.modelId,
    error: start.error ?? upload.error,
  };
}

/** Starts the run; what fails for want of credit, at another price, or without an answer can be tried again. */
function useStart(checked: CheckedChoice, inSight: FineTuneChoice | null, onOver: () => void) {
  const start = useStartFineTune();
  const keys = useIdempotencyKeys('fine-tune');
  // Those whose answer was lost, as JSON: they stay while others are tried, and until it is known what came of them.
  const [lost, setLost] = useState<readonly string[]>([]);
  const mayHaveBegun: CreateModel['mayHaveBegun'] = lost.includes(JSON.stringify(inSight))
    ? 'as chosen'
    : lost.length > 0
      ? 'as before'
      : null;
  const missing = useLackOfCredit(checked.validation?.cost_estimate.quote.total, inSight?.ceiling ?? '');
  // What has perhaps begun may be paid from what is missing now: the server knows.
  const lack = mayHaveBegun === 'as chosen' ? null : missing;
  return {
    isPending: start.isPending,
    modelId: start.data,
    error: start.error,
    unaffordable: isUnaffordable(start.error) ? errorMessage(start.error) : lack,
    lack,
    mayHaveBegun,
    priceChanged: isPriceChange(start.error),
    begin: (choice: FineTuneChoice, shown: Estimate) =>
      start.mutate(
        { choice, shown, idempotencyKey: keys.keyFor(choice) },
        {
          onSuccess: () => {
            checked.stopCounting();
            onOver();
          },
          onError: (error) => {
            const sent = JSON.stringify(choice);
            if (isUnanswered(error)) setLost([...lost, sent]);
            if (isRefused(error)) {
              keys.renew(choice);
              setLost(lost.filter((one) => one !== sent));
            }
            if (isPriceChange(error)) checked.checkAgain();
            else if (!isUnaffordable(error) && !isUnanswered(error)) onOver();
          },
        },
      ),
    /** Nothing is reported any more. */
    reset: start.reset,
  };
}

/** Creates the model of an upload, and sends its files one after the other. */
function useUpload(state: WizardState, dispatch: Dispatch<WizardAction>) {
  const user = useUser();
  const uploaded = useCreateUploadedModel();
  const uploads = useUploads(uploaded.data ?? '');
  const keys = useIdempotencyKeys('model');
  const create = useMutation({
    mutationFn: async ({ model, files }: { model: NewModel; files: readonly ChosenFile[] }) => {
      const id = await uploaded.mutateAsync({ ...model, idempotencyKey: keys.keyFor(model) });
      announceUpload(await uploadFiles(id, files));
    },
    onSuccess: () => dispatch({ do: 'review' }),
    onError: () => dispatch({ do: 'finish' }),
    // Said by the call that has failed.
    meta: { inPlace: true },
  });
  return {
    uploads,
    isPending:
      uploaded.isPending || uploads.some((one) => one.state === 'waiting' || one.state === 'sending'),
    modelId: uploaded.data ?? null,
    error: uploaded.error,
    create: () => {
      const { name, tags, baseModelType, files } = state;
      if (baseModelType)
        create.mutate({ model: { userId: user.id, name: name.trim(), tags, baseModelType }, files });
    },
    reset: () => {
      // What may have been made all the same is not made twice.
      if (isRefused(uploaded.error)) keys.renew(create.variables?.model);
      uploaded.reset();
    },
  };
}

/** Where it is known what is made, the wizard does not ask: Back leads to the other types. */
function beginning({ dataset, baseModel, modelType }: Preset): WizardState {
  const type = dataset || baseModel ? 'finetune' : (modelType ?? null);
  return {
    ...initialState,
    step: type ? 2 : 1,
    type,
    datasetId: dataset ?? null,
    baseModelId: baseModel ?? null,
  };
}

function isUnaffordable(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'insufficient_funds';
}

function choiceOf(state: WizardState, userId: string): FineTuneChoice | null {
  const { baseModelId, datasetId, fileName, parameters, tags, ceiling } = state;
  if (!baseModelId || !datasetId || !fileName) return null;
  return { userId, name: state.name.trim(), tags, baseModelId, datasetId, fileName, parameters, ceiling };
}
