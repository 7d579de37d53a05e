import {
  pictureResolutions,
  pictureTrainingNumbers,
  pictureTrainingPresets,
  SAMPLE_PROMPTS_MAX,
} from '@bakehouse/contract/diffusion-fields';
import { numberProblem } from '@bakehouse/contract/fields/number-field';
import { type GpuType, MODEL_NAME_LENGTH_MIN, NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import { nameProblem } from '../../../ui/text-problem.ts';
import { ceilingProblem } from '../parameters/parameter-problems.ts';
import type { LoraChoice } from './picture-calls.ts';

export type PresetName = keyof (typeof pictureTrainingPresets)['small'];
export type BaseSize = keyof typeof pictureTrainingPresets;
export type Resolution = (typeof pictureResolutions)[number];
type NumberName = keyof typeof pictureTrainingNumbers;

export const steps = ['Pictures', 'Training', 'Review'] as const;

export type LoraState = {
  step: 0 | 1 | 2;
  name: string;
  baseModelId: string | null;
  /** Small if this machine's CPU can train the base model. */
  size: BaseSize;
  datasetId: string | null;
  triggerWord: string;
  /** Undefined after any of its numbers was changed. */
  preset: PresetName | undefined;
  numbers: Record<NumberName, number>;
  /** Null for the base model's resolution. */
  resolution: Resolution | null;
  /** One prompt per line. */
  prompts: string;
  gpu: GpuType;
  /** In BGL, as typed; empty for the default. */
  ceiling: string;
  attempts: number;
};

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

export type LoraAction =
  | { do: 'change'; values: Partial<Omit<LoraState, 'step' | 'preset' | 'numbers' | 'attempts'>> }
  | { do: 'numbers'; values: Partial<LoraState['numbers']> }
  | { do: 'preset'; preset: PresetName }
  | { do: 'continue' }
  | { do: 'back' };

export type LoraProblems = Partial<Record<keyof LoraState | NumberName, string>>;

export function loraReducer(state: LoraState, action: LoraAction): LoraState {
  switch (action.do) {
    case 'change': {
      const next = { ...state, ...action.values };
      // An unedited preset has other numbers for another model size.
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
      // Discard the typed ceiling, because a new quote may have another one.
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
export function promptsOf(text: string): string[] {
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
