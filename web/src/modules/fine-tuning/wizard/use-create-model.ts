import { type Dispatch, useEffect, useReducer, useState } from 'react';
import { ApiError } from '../../../lib/api/api-error.ts';
import { isRefused, isUnanswered, useIdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { isPriceChange } from '../../../lib/api/is-price-change.ts';
import type { ChosenFile } from '../../../lib/files/chosen-file.ts';
import { findDropped } from '../../../lib/files/dropped-folder.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { errorMessage, notify } from '../../../ui/notify.ts';
import { useUser } from '../../accounts/session.ts';
import { announceUpload } from '../../datasets/files/uploads/announce-upload.ts';
import { uploadFiles, useUploads } from '../../datasets/files/uploads/uploads.ts';
import type { ModelPreset } from './model-preset.ts';
import { readBaseModelType } from './suggest.ts';
import { type CheckedChoice, useCheckedChoice } from './use-checked-choice.ts';
import { useLackOfCredit } from './use-lack-of-credit.ts';
import {
  type Estimate,
  type FineTuneChoice,
  type UploadedModel,
  useCreateUploadedModel,
  useLivePrice,
  useStartFineTune,
  WIZARD_TOAST,
} from './wizard-calls.ts';
import { initialState, type Wizard, type WizardAction, type WizardState } from './wizard-state.ts';
import { stepOf, wizardReducer } from './wizard-steps.tsx';

type NewModel = Omit<UploadedModel, 'idempotencyKey'>;

/** Returns the wizard's state and actions. */
export function useCreateModel(preset: ModelPreset): Wizard {
  const user = useUser();
  const [state, dispatch] = useReducer(wizardReducer, preset, beginning);
  const choice = choiceOf(state, user.id);
  const checked = useCheckedChoice(choice, state.step === 'quick');
  const estimate = checked.validation?.cost_estimate;
  const start = useStart(checked, choice, () => dispatch({ do: 'finish' }));
  const upload = useUpload(state, dispatch);
  useTypeOf(state.files, dispatch);
  const modelId = start.modelId ?? upload.modelId;
  // Dismiss errors of earlier steps, but not a failed creation.
  useEffect(() => notify.dismiss(WIZARD_TOAST), [state.step, modelId]);

  const { next, problems: problemsOf } = stepOf(state);
  const problems = problemsOf(state);
  const [problem] = Object.values(problems);
  const price = useLivePrice(state.step === 'parameters' && !problem ? choice : null);
  const busy = checked.isPending || start.isPending || upload.isPending;
  const canStart = next.does !== 'start' || start.isPossible;

  const does = {
    continue: () => dispatch({ do: 'continue' }),
    validate: () => {
      start.reset();
      if (choice) checked.check(choice, () => dispatch({ do: 'continue' }));
    },
    create: upload.create,
    start: () => choice && estimate && start.begin(choice, estimate),
    finish: () => dispatch({ do: 'finish' }),
  };

  function continueToNextStep() {
    if (busy || !canStart) return;
    if (problem) {
      notify.failure('Validation Error', { description: problem, id: WIZARD_TOAST });
      dispatch({ do: 'continue' });
    } else does[next.does]();
  }

  function tryAgain() {
    for (const reset of [start.reset, upload.reset, checked.reset]) reset();
    notify.dismiss(WIZARD_TOAST);
    dispatch({ do: 'try again', begun: beginning(preset) });
  }

  function change(action: WizardAction) {
    if (isOtherChoice(action)) checked.reset();
    dispatch(action);
  }

  return {
    state,
    problems: state.attempts > 0 ? problems : {},
    wantedFile: preset.dataFile,
    busy,
    dispatch: change,
    goOn: continueToNextStep,
    checkChoice: checked.checkAgain,
    tryAgain,
    ...{ checkError: checked.error, validation: checked.validation, price, reading: checked.reading },
    unaffordable: start.unaffordable,
    priceChanged: start.priceChanged,
    mayHaveBegun: start.mayHaveBegun,
    canStart,
    uploads: upload.uploads,
    modelId,
    error: start.error ?? upload.error,
  };
}

/** Starts the run. Can be retried after insufficient credit, a price change or a lost response. */
function useStart(checked: CheckedChoice, inSight: FineTuneChoice | null, onOver: () => void) {
  const start = useStartFineTune();
  const keys = useIdempotencyKeys('fine-tune');
  // Choices (as JSON) whose response was lost. Each stays here until its outcome is known.
  const [lost, setLost] = useState<readonly string[]>([]);
  const mayHaveBegun: Wizard['mayHaveBegun'] = lost.includes(JSON.stringify(inSight))
    ? 'as chosen'
    : lost.length > 0
      ? 'as before'
      : null;
  const missing = useLackOfCredit(checked.validation, inSight?.ceiling ?? '');
  // If the run has started after all, its hold explains the missing credit, so let the server decide.
  const lack = mayHaveBegun === 'as chosen' ? null : missing;
  return {
    isPending: start.isPending,
    modelId: start.data ?? null,
    error: start.error,
    unaffordable: isUnaffordable(start.error) ? errorMessage(start.error) : lack,
    isPossible: lack === null && checked.validation?.critical_errors.length === 0,
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
            if (isUnanswered(error)) setLost((before) => [...before, sent]);
            if (isRefused(error)) {
              keys.renew(choice);
              setLost((before) => before.filter((one) => one !== sent));
            }
            if (isPriceChange(error)) checked.checkAgain();
            else if (!isUnaffordable(error) && !isUnanswered(error)) onOver();
          },
        },
      ),
    /** Resets the mutation, which also drops its pending callbacks. */
    reset: start.reset,
  };
}

/** Creates the model of an upload, and uploads its files one after another. */
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
    onSuccess: () => dispatch({ do: 'continue' }),
    onError: () => dispatch({ do: 'finish' }),
    // The failed request already shows its error.
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
      // Renew the key only after a rejection: if the response was lost, the model may already exist.
      if (isRefused(uploaded.error)) keys.renew(create.variables?.model);
      uploaded.reset();
    },
  };
}

/** Sets the base model type of the files that the wizard was opened with. */
function useTypeOf(files: WizardState['files'], dispatch: Dispatch<WizardAction>): void {
  const [begunWith] = useState(files);
  useEffect(() => {
    void readBaseModelType(begunWith).then((baseModelType) => {
      if (baseModelType) dispatch({ do: 'change', values: { baseModelType } });
    });
  }, [begunWith, dispatch]);
}

/** Returns the initial state. Skips the type step if the type is known; Back still leads to that step. */
function beginning({ dataset, baseModel, modelType, settings, dropped }: ModelPreset): WizardState {
  const folder = findDropped(dropped);
  const type = folder ? 'upload' : dataset || baseModel ? 'finetune' : (modelType ?? null);
  return {
    ...initialState,
    step: dataset && settings ? 'quick' : type ? 'details' : 'type',
    type,
    datasetId: dataset ?? null,
    baseModelId: baseModel ?? null,
    ...(folder && { name: folder.name, files: folder.files }),
  };
}

/** Returns true if the action makes the server's response outdated. Names and tags don't. */
function isOtherChoice(action: WizardAction): boolean {
  if (action.do === 'change')
    return Object.keys(action.values).some((one) => one !== 'name' && one !== 'tags');
  return action.do === 'parameters' || action.do === 'apply';
}

function isUnaffordable(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'insufficient_funds';
}

function choiceOf(state: WizardState, userId: string): FineTuneChoice | null {
  const { datasetId, fileName, parameters, tags, ceiling } = state;
  const hubModelId = state.type === 'huggingface' ? state.hubModelId : null;
  const baseModelId = hubModelId ?? state.baseModelId;
  if (!baseModelId || !datasetId || !fileName) return null;
  const name = state.name.trim();
  return { userId, name, tags, baseModelId, hubModelId, datasetId, fileName, parameters, ceiling };
}
