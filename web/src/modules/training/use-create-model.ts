import type { GpuType } from '@bakehouse/contract/limits';
import type { FineTuneValidation } from '@bakehouse/contract/training';
import { type Dispatch, useEffect, useReducer } from 'react';
import { ApiError } from '../../lib/api-error.ts';
import { useIdempotencyKeys } from '../../lib/idempotency-key.ts';
import { notify } from '../../ui/notify.ts';
import { useUser } from '../accounts/api.ts';
import { type Upload, uploadFiles, useUploads } from '../assets/api.ts';
import { firstGpu, useMachine } from '../machine/api.ts';
import {
  type FineTuneChoice,
  useCreateUploadedModel,
  useStartFineTune,
  useValidateFineTune,
  WIZARD_TOAST,
} from './api.ts';
import {
  initialParameters,
  initialState,
  type Problems,
  problemsOf,
  type WizardAction,
  type WizardState,
  wizardReducer,
} from './create-model-wizard-state.ts';
import type { ModelPreset } from './model-preset.ts';

type Preset = Omit<ModelPreset, 'dataFile'>;

type CreateModel = {
  state: WizardState;
  /** Those to show now. */
  problems: Problems;
  /** A call is under way: a second submit is ignored. */
  busy: boolean;
  dispatch: Dispatch<WizardAction>;
  /** What the button of the step does: go on, validate, create, start. */
  goOn: () => void;
  reset: () => void;
  /** What the server said of the current choice. */
  validation: FineTuneValidation | undefined;
  choice: FineTuneChoice | null;
  /** Too little credit to start; nothing has started, and nothing typed is lost. */
  unaffordable: ApiError | null;
  uploads: Upload[];
  modelId: string | null;
  error: Error | null;
};

/** The wizard's state with the calls that its steps make. */
export function useCreateModel(preset: Preset): CreateModel {
  const user = useUser();
  const gpu = firstGpu(useMachine().data);
  const [state, dispatch] = useReducer(wizardReducer, preset, (wanted) => beginning(gpu, wanted));
  const validation = useValidateFineTune();
  const start = useStartFineTune();
  const uploaded = useCreateUploadedModel();
  const uploads = useUploads(uploaded.data ?? '');
  const keys = useIdempotencyKeys();

  // What an earlier step was refused for is no longer so.
  useEffect(() => notify.dismiss(WIZARD_TOAST), [state.step]);

  const problems = problemsOf(state);
  const choice = choiceOf(state, user.id);
  const busy =
    validation.isPending ||
    start.isPending ||
    uploaded.isPending ||
    uploads.some((one) => one.state === 'waiting' || one.state === 'sending');

  function goOn() {
    if (busy) return;
    const [problem] = Object.values(problems);
    if (problem) {
      notify.failure('Validation Error', { description: problem, id: WIZARD_TOAST });
      dispatch({ do: 'continue' });
    } else if (state.type === 'upload' && state.step === 3) void createUpload();
    else if (state.type === 'upload' && state.step === 4) dispatch({ do: 'finish' });
    else if (choice && state.step === 4) validate(choice);
    else if (choice && state.step === 5) startRun(choice);
    else dispatch({ do: 'continue' });
  }

  function validate(wanted: FineTuneChoice) {
    start.reset();
    validation.mutate(wanted, {
      onSuccess: ({ critical_errors: [critical] }) => {
        if (critical) notify.failure('Validation Failed', { description: critical, id: WIZARD_TOAST });
        else dispatch({ do: 'continue' });
      },
    });
  }

  function startRun(wanted: FineTuneChoice) {
    start.mutate(
      { choice: wanted, idempotencyKey: keys.keyFor(wanted) },
      {
        onSuccess: () => dispatch({ do: 'finish' }),
        onError: (error) => {
          if (!isUnaffordable(error)) dispatch({ do: 'finish' });
        },
      },
    );
  }

  async function createUpload() {
    if (!state.baseModelType) return;
    const model = {
      userId: user.id,
      name: state.name.trim(),
      tags: state.tags,
      baseModelType: state.baseModelType,
    };
    try {
      const id = await uploaded.mutateAsync({ ...model, idempotencyKey: keys.keyFor(model) });
      await uploadFiles(id, state.files);
      dispatch({ do: 'review' });
    } catch {
      dispatch({ do: 'finish' });
    }
  }

  function reset() {
    keys.renew();
    validation.reset();
    start.reset();
    uploaded.reset();
    dispatch({ do: 'reset', to: beginning(gpu) });
  }

  function change(action: WizardAction) {
    // What the server said was about another choice.
    if (action.do === 'change' || action.do === 'parameters' || action.do === 'apply') validation.reset();
    dispatch(action);
  }

  return {
    state,
    problems: state.attempts > 0 ? problems : {},
    busy,
    dispatch: change,
    goOn,
    reset,
    validation: validation.data,
    choice,
    unaffordable: isUnaffordable(start.error) ? start.error : null,
    uploads,
    modelId: start.data ?? uploaded.data ?? null,
    error: start.error ?? uploaded.error,
  };
}

function beginning(gpu: GpuType, { dataset, baseModel, modelType }: Preset = {}): WizardState {
  return {
    ...initialState,
    parameters: { ...initialParameters, accelerator_type: gpu },
    type: dataset || baseModel ? 'finetune' : (modelType ?? null),
    datasetId: dataset ?? null,
    baseModelId: baseModel ?? null,
  };
}

function isUnaffordable(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 'insufficient_funds';
}

function choiceOf(state: WizardState, userId: string): FineTuneChoice | null {
  const { baseModelId, datasetId, fileName, parameters, tags, ceiling } = state;
  if (!baseModelId || !datasetId || !fileName) return null;
  return { userId, name: state.name.trim(), tags, baseModelId, datasetId, fileName, parameters, ceiling };
}
