import {
  pictureResolutions,
  pictureTrainingNumbers,
  pictureTrainingPresets,
  SAMPLE_PROMPTS_MAX,
} from '@bakehouse/contract/diffusion-fields';
import type { DiffusionValidation } from '@bakehouse/contract/diffusion-training';
import { numberProblem } from '@bakehouse/contract/fields/number-field';
import { type GpuType, MODEL_NAME_LENGTH_MIN, NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import { type Dispatch, useEffect, useReducer, useState } from 'react';
import { isPriceChange } from '../../../lib/api/api-error.ts';
import { isRefused, useIdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { errorMessage, notify } from '../../../ui/notify.ts';
import { nameProblem } from '../../../ui/text-problems.ts';
import { ceilingProblem } from '../parameters/parameter-problems.ts';
import { useLackOfCredit } from '../wizard/use-lack-of-credit.ts';
import { LORA_TOAST, type LoraChoice, useStartLora, useValidateLora } from './picture-calls.ts';

export const steps = ['Pictures', 'Training', 'Review'] as const;

export const initialLora: LoraState = {
  step: 0,
  name: '',
  baseModelId: null,
  size: 'small',
  datasetId: null,
  triggerWord: '',
  preset: 'style',
  numbers: pictureTrainingPresets.small.style,
  resolution: null,
  prompts: '',
  gpu: 'NVIDIA_TESLA_A100',
  ceiling: '',
  attempts: 0,
};

export type PresetName = keyof (typeof pictureTrainingPresets)['small'];

export type BaseSize = keyof typeof pictureTrainingPresets;

export type Resolution = (typeof pictureResolutions)[number];

type NumberName = keyof typeof pictureTrainingNumbers;

export type LoraState = {
  step: 0 | 1 | 2;
  name: string;
  baseModelId: string | null;
  /** Whether this machine's CPU can train the base. */
  size: BaseSize;
  datasetId: string | null;
  triggerWord: string;
  /** Undefined after any of its numbers was changed. */
  preset: PresetName | undefined;
  numbers: Record<NumberName, number>;
  /** Null: the base's resolution. */
  resolution: Resolution | null;
  /** One per line. */
  prompts: string;
  gpu: GpuType;
  /** In BGL, as typed; empty for the default. */
  ceiling: string;
  attempts: number;
};

type LoraAction =
  | { do: 'change'; values: Partial<Omit<LoraState, 'step' | 'preset' | 'numbers' | 'attempts'>> }
  | { do: 'numbers'; values: Partial<LoraState['numbers']> }
  | { do: 'preset'; preset: PresetName }
  | { do: 'continue' }
  | { do: 'back' };

type LoraProblems = Partial<Record<keyof LoraState | NumberName, string>>;

export function loraReducer(state: LoraState, action: LoraAction): LoraState {
  switch (action.do) {
    case 'change': {
      const next = { ...state, ...action.values };
      // Numbers depend on the model size, so unedited presets follow it.
      return next.size !== state.size && state.preset
        ? { ...next, numbers: pictureTrainingPresets[next.size][state.preset], resolution: null }
        : next;
    }
    case 'numbers':
      return { ...state, preset: undefined, numbers: { ...state.numbers, ...action.values } };
    case 'preset':
      return {
        ...state,
        preset: action.preset,
        numbers: pictureTrainingPresets[state.size][action.preset],
      };
    case 'continue':
      return Object.keys(problemsOf(state)).length > 0 || state.step === 2
        ? { ...state, attempts: state.attempts + 1 }
        : { ...state, step: state.step === 0 ? 1 : 2, attempts: 0 };
    case 'back':
      // A new quote may have another ceiling.
      return { ...state, step: state.step === 2 ? 1 : 0, ceiling: '', attempts: 0 };
  }
}

/** Returns the errors that block the current step. */
export function problemsOf(state: LoraState): LoraProblems {
  if (state.step === 0) return picturesProblems(state);
  if (state.step === 1) return trainingProblems(state);
  const ceiling = ceilingProblem(state.ceiling);
  return ceiling === null ? {} : { ceiling };
}

function picturesProblems({ name, baseModelId, datasetId }: LoraState): LoraProblems {
  const tooShort = name.trim().length < MODEL_NAME_LENGTH_MIN;
  const wrong = tooShort
    ? `Name must have at least ${MODEL_NAME_LENGTH_MIN} characters`
    : nameProblem(name, NAME_LENGTH_MAX);
  return {
    ...(wrong && { name: wrong }),
    ...(!baseModelId && { baseModelId: 'Choose the base model of the LoRA' }),
    ...(!datasetId && { datasetId: 'Choose the dataset with your pictures' }),
  };
}

function trainingProblems({ numbers, prompts }: LoraState): LoraProblems {
  const problems: LoraProblems = {};
  for (const [name, field] of Object.entries(pictureTrainingNumbers)) {
    const problem = numberProblem(field, numbers[name as NumberName]);
    if (problem) problems[name as NumberName] = problem;
  }
  if (!problems.sample_every && numbers.sample_every > numbers.steps)
    problems.sample_every = `Steps between samples must be at most ${numbers.steps}, the steps of the run`;
  if (promptsOf(prompts).length > SAMPLE_PROMPTS_MAX)
    problems.prompts = `There can be at most ${SAMPLE_PROMPTS_MAX} sample prompts`;
  return problems;
}

/** Returns the non-empty lines. */
function promptsOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Suggests prompts for the base with the trigger word, if the user hasn't written any. */
export function suggestedPrompts({ size, triggerWord }: Pick<LoraState, 'size' | 'triggerWord'>): string {
  const things =
    size === 'small'
      ? ['a red apple', 'a small cat', 'a blue automobile', 'a house']
      : ['a portrait of a woman', 'a cat on a windowsill', 'a city street at night', 'a bowl of fruit'];
  const word = triggerWord.trim();
  return things.map((thing) => (word ? `${word}, ${thing}` : thing)).join('\n');
}

/** Returns the request. Each prompt has its own seed, identical for all checkpoints. */
export function choiceOf(state: LoraState): LoraChoice | null {
  const { baseModelId, datasetId, numbers, resolution, gpu } = state;
  if (!baseModelId || !datasetId) return null;
  const word = state.triggerWord.trim();
  return {
    dataset_id: datasetId,
    model_id: baseModelId,
    gpu_type: gpu,
    ...(word && { trigger_word: word }),
    ...numbers,
    ...(resolution && { resolution }),
    sample_prompts: promptsOf(state.prompts).map((prompt, index) => ({ prompt, seed: index + 1 })),
  };
}

export type TrainLora = {
  state: LoraState;
  /** Errors to show now. */
  problems: LoraProblems;
  /** A request is in flight: submitting again does nothing. */
  busy: boolean;
  validation: DiffusionValidation | undefined;
  /** Error message if the balance is too low to start. */
  lack: string | null;
  priceChanged: boolean;
  canStart: boolean;
  dispatch: Dispatch<LoraAction>;
  goOn: () => void;
};

/** Returns the wizard's state and actions. `onStarted` receives the run's id. */
export function useTrainLora(datasetId: string | undefined, onStarted: (runId: string) => void): TrainLora {
  const [state, dispatch] = useReducer(loraReducer, { ...initialLora, datasetId: datasetId ?? null });
  const [validation, setValidation] = useState<DiffusionValidation>();
  const check = useValidateLora();
  const start = useStartLora();
  const keys = useIdempotencyKeys('lora');
  const lack = useLackOfCredit(validation, state.ceiling);
  const problems = problemsOf(state);
  const busy = check.isPending || start.isPending;
  const canStart = state.step < 2 || (lack === null && validation?.critical_errors.length === 0);
  useEffect(() => notify.dismiss(LORA_TOAST), [state.step]);

  function validate() {
    const choice = choiceOf(state);
    if (!choice) return;
    check.mutate(choice, {
      onSuccess: (answer) => {
        setValidation(answer);
        // The review shows which pictures can't be used, even if nothing can start.
        if (answer.data || answer.critical_errors.length === 0) dispatch({ do: 'continue' });
        else
          notify.failure('Validation Failed', {
            description: answer.critical_errors.join(' '),
            id: LORA_TOAST,
          });
      },
    });
  }

  function begin() {
    const choice = choiceOf(state);
    if (!choice || !validation) return;
    const asked = { choice, title: state.name.trim(), ceiling: state.ceiling };
    start.mutate(
      { ...asked, shown: validation.cost_estimate, idempotencyKey: keys.keyFor(asked) },
      {
        onSuccess: ({ run_id }) => onStarted(run_id),
        onError: (error) => {
          if (isRefused(error)) keys.renew(asked);
          if (isPriceChange(error)) check.mutate(choice, { onSuccess: setValidation });
        },
      },
    );
  }

  function goOn() {
    if (busy || !canStart) return;
    if (Object.keys(problems).length > 0 || state.step === 0) dispatch({ do: 'continue' });
    else if (state.step === 1) validate();
    else begin();
  }

  return {
    state,
    problems: state.attempts > 0 ? problems : {},
    busy,
    validation,
    lack:
      lack ??
      (start.error && !isPriceChange(start.error) && state.step === 2 ? errorMessage(start.error) : null),
    priceChanged: isPriceChange(start.error),
    canStart,
    dispatch: (action) => {
      if (action.do !== 'continue') start.reset();
      dispatch(action);
    },
    goOn,
  };
}
