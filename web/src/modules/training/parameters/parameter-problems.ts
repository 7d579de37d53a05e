import { numberProblem } from '@bakehouse/contract/fields/number-field';
import { fineTuneNumbers, HEAD_WITH_DPO } from '@bakehouse/contract/fine-tune-numbers';
import { gpuCounts, type Objective, objectives } from '@bakehouse/contract/limits';
import { currencyChoice } from '../../../lib/format/currency.ts';
import { bglProblem } from '../../../lib/format/typed-amount.ts';
import { isTextFile, type TrainingParameters } from './training-parameters.ts';

export type ParameterProblems = Partial<Record<keyof TrainingParameters, string>>;

type NumberName = keyof typeof fineTuneNumbers;

const numberNames = Object.keys(fineTuneNumbers) as NumberName[];
/** Of one objective alone: with another nobody is asked for them. */
const ofObjective: Record<Objective, NumberName[]> = {
  sft: ['neftune_noise_alpha'],
  dpo: ['beta', 'sft_weight'],
};

/** What is wrong with a ceiling as it was typed; null where nothing is, or nothing was typed. */
export function ceilingProblem(ceiling: string): string | null {
  if (ceiling === '') return null;
  return bglProblem(ceiling, currencyChoice.get(), 'Ceiling') ?? null;
}

/** By field, the most important first: the toast shows the first one. */
export function parameterProblems(parameters: TrainingParameters, fileName: string): ParameterProblems {
  const problems: ParameterProblems = {
    ...numberProblems(parameters, ['epochs', 'learning_rate']),
  };
  if (!parameters.accelerator_type) problems.accelerator_type = 'Please select a GPU configuration';
  if (!gpuCounts.some((count) => count === parameters.accelerator_count)) {
    problems.accelerator_count = 'Please select a valid number of GPUs (1, 2, 4, or 8)';
  }
  if (!isTextFile(fileName)) Object.assign(problems, columnProblems(parameters));
  // Those that have a problem already keep their place.
  const isDpo = parameters.objective === 'dpo';
  const others = objectives.filter((one) => one !== parameters.objective);
  const unasked = others.flatMap((one) => ofObjective[one]);
  const asked = numberNames.filter((name) => !unasked.includes(name));
  Object.assign(problems, numberProblems(parameters, asked));
  if (isDpo && parameters.lora_target_modules.includes('lm_head')) {
    problems.lora_target_modules = HEAD_WITH_DPO;
  }
  if (parameters.lora_target_modules.length === 0) {
    problems.lora_target_modules = 'Select at least one target module';
  }
  return problems;
}

function columnProblems(parameters: TrainingParameters): ParameterProblems {
  const { data_format, input_column, output_column } = parameters;
  if (data_format === 'preference') return preferenceProblems(parameters);
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

/** Whole conversations bring the question: the input column may be none. */
function preferenceProblems({
  input_column,
  output_column,
  rejected_column,
}: TrainingParameters): ParameterProblems {
  const message = 'Output and rejected columns are required for preferences';
  const isAnswer = input_column !== '' && [output_column, rejected_column].includes(input_column);
  return {
    ...(isAnswer && { input_column: 'Input must be another column than output and rejected' }),
    ...(!output_column && { output_column: message }),
    ...(!rejected_column && { rejected_column: message }),
    ...(rejected_column &&
      rejected_column === output_column && {
        rejected_column: 'Output and rejected must be different columns',
      }),
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
