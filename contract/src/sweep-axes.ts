import { type Adaptation, fineTuneNumbers, objectiveNames } from './fine-tune-numbers.ts';
import { type Objective, objectives } from './limits.ts';

/**
 * What a sweep varies. Numbers of the data, of the evaluations, and of how held-out answers are written are not among them: with these
 * no two runs would be measured alike.
 */
export const sweepParameters = [
  'learning_rate',
  'lora_r',
  'epochs',
  'batch_size',
  'gradient_accumulation_steps',
  'warmup_ratio',
  'weight_decay',
  'max_grad_norm',
  'lora_dropout',
  'neftune_noise_alpha',
  'beta',
  'sft_weight',
  'desirable_weight',
  'undesirable_weight',
  'generations',
] as const satisfies readonly (keyof typeof fineTuneNumbers)[];

export type SweepParameter = (typeof sweepParameters)[number];

/** One parameter of a sweep, with the value that each of its runs has one of. */
export type SweepAxis = { parameter: SweepParameter; values: number[] };

/** The values of a run. */
export type Combination = Partial<Record<SweepParameter, number>>;

export const SWEEP_AXES_MAX = 2;
/** Of one parameter; fewer than two are no choice. */
export const SWEEP_VALUES_MIN = 2;
export const SWEEP_VALUES_MAX = 8;
/** Each is a run and a model; who wants to know more begins another sweep around the best. */
export const SWEEP_RUNS_MAX = 16;

export const TOO_FEW_VALUES = 'Enter at least two values';
export const TOO_MANY_VALUES = `Enter at most ${SWEEP_VALUES_MAX} values`;
export const REPEATED_VALUE = 'Enter each value once';
export const REPEATED_PARAMETER = 'Choose two different parameters';

/** What is said of more runs than a sweep may have. */
export function tooManyRuns(count: number): string {
  return `These values make ${count} runs: a sweep has at most ${SWEEP_RUNS_MAX}`;
}

/** What only some objectives have. */
const ofObjectives: Partial<Record<SweepParameter, readonly Objective[]>> = {
  neftune_noise_alpha: ['sft'],
  beta: ['dpo', 'kto', 'grpo'],
  sft_weight: ['dpo'],
  desirable_weight: ['kto'],
  undesirable_weight: ['kto'],
  generations: ['grpo'],
};

/** What only an adapter has. */
const ofAdapters: readonly SweepParameter[] = ['lora_r', 'lora_dropout'];

type Training = { objective: Objective; adaptation: Adaptation };

/** The parameters that a training can be swept over. Pure. */
export function sweptWith({ objective, adaptation }: Training): SweepParameter[] {
  return sweepParameters.filter(
    (parameter) =>
      (ofObjectives[parameter] ?? objectives).includes(objective) &&
      (adaptation !== 'full' || !ofAdapters.includes(parameter)),
  );
}

/** What is said of a parameter that the training does not have. */
export function notSweptWith({ objective, adaptation }: Training, parameter: SweepParameter): string {
  const isOfAdapter = adaptation === 'full' && ofAdapters.includes(parameter);
  return `${isOfAdapter ? 'Full fine-tuning' : objectiveNames[objective]} has no ${fineTuneNumbers[parameter].label}: choose another parameter`;
}

/** Every pair of values of two axes, or every value of one: those of the last one change first. Pure. */
export function combinationsOf(axes: readonly SweepAxis[]): Combination[] {
  return axes.reduce<Combination[]>(
    (combinations, { parameter, values }) =>
      combinations.flatMap((one) => values.map((value) => ({ ...one, [parameter]: value }))),
    [{}],
  );
}

/** How many runs these are, without making any of them: somebody may have sent a thousand values. Pure. */
export function countRuns(axes: readonly Pick<SweepAxis, 'values'>[]): number {
  return axes.reduce((count, { values }) => count * values.length, 1);
}

/** 'Learning rate 0.0002, LoRA rank 8'. Pure. */
export function nameCombination(combination: Combination): string {
  return Object.entries(combination)
    .map(([parameter, value]) => `${fineTuneNumbers[parameter as SweepParameter].label} ${value}`)
    .join(', ');
}
