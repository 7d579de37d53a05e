import { numberProblem } from '@bakehouse/contract/fields/number-field';
import {
  ANSWER_TOO_LONG,
  fineTuneNumbers,
  headWith,
  KTO_BATCH,
  KTO_BATCH_MIN,
  trainsHead,
} from '@bakehouse/contract/fine-tune-numbers';
import { gpuCounts, type Objective } from '@bakehouse/contract/limits';
import { currencyChoice } from '../../../lib/format/currency.ts';
import { bglProblem } from '../../../lib/format/typed-amount.ts';
import { rewardsProblem } from './rewards/reward-draft.ts';
import { isTextFile, type TrainingParameters } from './training-parameters.ts';

export type ParameterProblems = Partial<Record<keyof TrainingParameters, string>>;

type NumberName = keyof typeof fineTuneNumbers;

const numberNames = Object.keys(fineTuneNumbers) as NumberName[];
/** Fields used by one objective only; not validated for others. */
const ofObjective: Record<Objective, NumberName[]> = {
  sft: ['neftune_noise_alpha'],
  dpo: ['beta', 'sft_weight'],
  kto: ['beta', 'desirable_weight', 'undesirable_weight'],
  grpo: ['beta', 'generations', 'max_new_tokens', 'temperature'],
};

/** Adapter fields. */
const ofAdapter: NumberName[] = ['lora_r', 'lora_dropout'];

/** Returns the error for a typed ceiling; null if it is valid or empty. */
export function ceilingProblem(ceiling: string): string | null {
  if (ceiling === '') return null;
  return bglProblem(ceiling, currencyChoice.get(), 'Spending limit') ?? null;
}

/** Errors by field, most important first, because the toast shows the first. */
export function parameterProblems(parameters: TrainingParameters, fileName: string): ParameterProblems {
  const problems: ParameterProblems = {
    ...numberProblems(parameters, ['epochs', 'learning_rate']),
  };
  if (!parameters.accelerator_type) problems.accelerator_type = 'Please select a GPU configuration';
  if (!gpuCounts.some((count) => count === parameters.accelerator_count)) {
    problems.accelerator_count = 'Please select a valid number of GPUs (1, 2, 4, or 8)';
  }
  if (!isTextFile(fileName)) Object.assign(problems, columnProblems(parameters));
  // Assigning to a field that already has an error does not change its position.
  const { objective, adaptation } = parameters;
  const ofSome = [...Object.values(ofObjective).flat(), ...ofAdapter];
  const ofThis = [...ofObjective[objective], ...(adaptation !== 'full' ? ofAdapter : [])];
  const asked = numberNames.filter((name) => !ofSome.includes(name) || ofThis.includes(name));
  Object.assign(problems, numberProblems(parameters, asked));
  if (objective === 'grpo') {
    const ofRewards = rewardsProblem(parameters.rewards, parameters.output_column !== '');
    if (ofRewards) problems.rewards = ofRewards;
    if (parameters.max_new_tokens >= parameters.max_chunk_size) problems.max_new_tokens ??= ANSWER_TOO_LONG;
  }
  if (objective === 'kto' && parameters.batch_size < KTO_BATCH_MIN) problems.batch_size ??= KTO_BATCH;
  const ofModules = adaptation !== 'full' && modulesProblem(parameters);
  if (ofModules) problems.lora_target_modules = ofModules;
  return problems;
}

function modulesProblem({
  objective,
  adaptation,
  lora_target_modules: modules,
}: TrainingParameters): string | null {
  if (modules.length === 0) return 'Select at least one target module';
  return modules.includes('lm_head') && !trainsHead(objective, adaptation) ? headWith(objective) : null;
}

function columnProblems(parameters: TrainingParameters): ParameterProblems {
  const { data_format, input_column, output_column } = parameters;
  if (data_format === 'preference') return comparedProblems(parameters, 'rejected_column');
  if (data_format === 'feedback') return comparedProblems(parameters, 'label_column');
  if (data_format === 'prompts') return promptProblems(parameters);
  if (data_format === 'text') return input_column ? {} : { input_column: 'Please choose the text column' };
  if (data_format !== null && data_format !== 'prompt_completion') return {};
  const message = 'Input and output columns are required for non-text files';
  return {
    ...(!input_column && { input_column: message }),
    ...(!output_column && { output_column: message }),
    ...(output_column &&
      output_column === input_column && { output_column: 'Input and output must be different columns' }),
  };
}

/** Returns the column errors of prompts. The reference column is optional. */
function promptProblems({ input_column, output_column }: TrainingParameters): ParameterProblems {
  if (!input_column) return { input_column: 'Please choose the prompt column' };
  if (input_column !== output_column) return {};
  return { output_column: 'Prompt and reference must be different columns' };
}

/** The column that a row needs in addition to its answer: the worse answer, or the label. */
const comparedColumns = {
  rejected_column: { name: 'rejected', rows: 'preferences' },
  label_column: { name: 'label', rows: 'feedback' },
} as const;

/** The input column is optional, because a conversation in the output column includes the question. */
function comparedProblems(
  parameters: TrainingParameters,
  which: keyof typeof comparedColumns,
): ParameterProblems {
  const { input_column, output_column } = parameters;
  const other = parameters[which];
  const { name, rows } = comparedColumns[which];
  const message = `Output and ${name} columns are required for ${rows}`;
  const isEither = input_column !== '' && [output_column, other].includes(input_column);
  return {
    ...(isEither && { input_column: `Input must be another column than output and ${name}` }),
    ...(!output_column && { output_column: message }),
    ...(!other && { [which]: message }),
    ...(other && other === output_column && { [which]: `Output and ${name} must be different columns` }),
  };
}

function numberProblems(parameters: TrainingParameters, names: readonly NumberName[]): ParameterProblems {
  return Object.fromEntries(
    names.flatMap((name) => {
      const problem = numberProblem(fineTuneNumbers[name], parameters[name]);
      return problem ? [[name, problem]] : [];
    }),
  );
}
