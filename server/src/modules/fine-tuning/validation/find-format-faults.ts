import {
  ANSWER_TOO_LONG,
  comparedFormats,
  headWith,
  KTO_BATCH,
  KTO_BATCH_MIN,
  NO_ANSWERS,
  NO_REWARD,
  noiseWith,
  packingWith,
  REWARD_SCHEMA_LENGTH_MAX,
  rewardsWith,
} from '@bakehouse/contract/fine-tune-numbers';
import type { FineTunePayload } from '@bakehouse/contract/fine-tuning';
import type { Objective } from '@bakehouse/contract/limits';
import {
  type FineTuneFields,
  isTextFile,
  requestedFormat,
  type SettledFields,
  withDefaults,
} from '../fine-tune-spec.ts';

type FormatFault = { message: string; about: keyof FineTunePayload };

/** The rows that each objective needs, and the column that makes rows such rows. */
const NEEDS: Record<
  Exclude<Objective, 'sft'>,
  { said: string; column: 'rejected_column' | 'label_column' | 'input_column' }
> = {
  dpo: { said: 'DPO needs preferences: a better and a worse answer in each row', column: 'rejected_column' },
  kto: { said: 'KTO needs feedback: an answer in each row, and whether it is good', column: 'label_column' },
  grpo: {
    said: 'GRPO needs prompts: rows that ask something, which the model answers',
    column: 'input_column',
  },
};

/** Returns missing or contradictory settings, without reading the file. */
export function findFormatFaults(fields: FineTuneFields): FormatFault[] {
  return [...findColumnFaults(fields), ...findObjectiveFaults(withDefaults(fields))];
}

/**
 * Returns conflicts of the objective with other settings. The format is known only if the request names it.
 */
export function findObjectiveFaults(fields: SettledFields): FormatFault[] {
  const { objective } = fields;
  const format = isTextFile(fields.file_name) ? 'text' : requestedFormat(fields);
  if (objective !== 'grpo' && fields.rewards.length > 0) {
    return [{ message: rewardsWith(objective), about: 'rewards' }];
  }
  if (objective === 'sft') {
    return format === 'prompts' ? [{ message: NO_ANSWERS, about: 'objective' }] : [];
  }
  if (format !== null && format !== comparedFormats[objective]) {
    return [{ message: NEEDS[objective].said, about: 'objective' }];
  }
  const faults: FormatFault[] = [];
  if (fields.lora_target_modules.includes('lm_head')) {
    faults.push({ message: headWith(objective), about: 'lora_target_modules' });
  }
  if (fields.neftune_noise_alpha > 0) {
    faults.push({ message: noiseWith(objective), about: 'neftune_noise_alpha' });
  }
  if (fields.packing) faults.push({ message: packingWith(objective), about: 'packing' });
  if (objective === 'kto' && fields.batch_size < KTO_BATCH_MIN) {
    faults.push({ message: KTO_BATCH, about: 'batch_size' });
  }
  if (objective === 'grpo') faults.push(...findRewardFaults(fields));
  return faults;
}

/**
 * Returns faults of rewards and answers that can be found without data. The runtime checks patterns and
 * schemas.
 */
function findRewardFaults({ rewards, max_new_tokens, max_chunk_size }: SettledFields): FormatFault[] {
  const faults: FormatFault[] = [];
  if (rewards.length === 0) faults.push({ message: NO_REWARD, about: 'rewards' });
  for (const [at, reward] of rewards.entries()) {
    const isLong =
      reward.type === 'json_schema' && JSON.stringify(reward.json_schema).length > REWARD_SCHEMA_LENGTH_MAX;
    if (!isLong) continue;
    const message = `Reward ${at + 1} (JSON Schema): it must have at most ${REWARD_SCHEMA_LENGTH_MAX} characters`;
    faults.push({ message, about: 'rewards' });
  }
  if (max_new_tokens >= max_chunk_size) faults.push({ message: ANSWER_TOO_LONG, about: 'max_new_tokens' });
  return faults;
}

function findColumnFaults(fields: FineTuneFields): FormatFault[] {
  if (isTextFile(fields.file_name)) return [];
  const { objective = 'sft', input_column, output_column, rejected_column, label_column } = fields;
  const format = requestedFormat(fields);
  if (rejected_column && format !== 'preference') {
    const message = 'Only preferences have a rejected column: choose the format preference, or leave it out';
    return [{ message, about: 'rejected_column' }];
  }
  if (label_column && format !== 'feedback') {
    const message = 'Only feedback has a label column: choose the format feedback, or leave it out';
    return [{ message, about: 'label_column' }];
  }
  if (format === 'preference') return findPreferenceFaults(fields);
  if (format === 'feedback') return findFeedbackFaults(fields);
  if (format === 'prompts') return findPromptFaults(fields);
  const namesPair = format === null && Boolean(input_column || output_column);
  if (namesPair && objective !== 'sft') {
    const { said, column } = NEEDS[objective];
    return [{ message: `${said}. Name the ${column.replace('_', ' ')}`, about: column }];
  }
  return namesPair || format === 'prompt_completion' ? findPairFaults(fields) : [];
}

function findPairFaults({ input_column, output_column }: FineTuneFields): FormatFault[] {
  if (!input_column || !output_column) {
    const about = input_column ? 'output_column' : 'input_column';
    return [{ message: 'Input and output columns are required for non-text files', about }];
  }
  if (input_column !== output_column) return [];
  return [{ message: 'Input and output must be different columns', about: 'output_column' }];
}

/** Checks the columns of prompts. If no column is set, default names are used. */
function findPromptFaults({ input_column, output_column }: FineTuneFields): FormatFault[] {
  if (output_column && !input_column) {
    return [
      { message: 'An input column is required in addition to the output column', about: 'input_column' },
    ];
  }
  if (!input_column || input_column !== output_column) return [];
  return [{ message: 'Input and output must be different columns', about: 'output_column' }];
}

/**
 * Checks the columns of preferences. If no column is set, default names are used. Whole conversations need no
 * input column.
 */
function findPreferenceFaults({
  input_column,
  output_column,
  rejected_column,
}: FineTuneFields): FormatFault[] {
  if (!input_column && !output_column && !rejected_column) return [];
  if (!output_column || !rejected_column) {
    const about = output_column ? 'rejected_column' : 'output_column';
    return [{ message: 'Output and rejected columns are required for preferences', about }];
  }
  if (output_column === rejected_column) {
    return [{ message: 'Output and rejected must be different columns', about: 'rejected_column' }];
  }
  if (input_column !== output_column && input_column !== rejected_column) return [];
  return [{ message: 'Input must be another column than output and rejected', about: 'input_column' }];
}

/** Checks the columns of rated answers, by the same rules as for preferences. */
function findFeedbackFaults({ input_column, output_column, label_column }: FineTuneFields): FormatFault[] {
  if (!input_column && !output_column && !label_column) return [];
  if (!output_column || !label_column) {
    const about = output_column ? 'label_column' : 'output_column';
    return [{ message: 'Output and label columns are required for feedback', about }];
  }
  if (output_column === label_column) {
    return [{ message: 'Output and label must be different columns', about: 'label_column' }];
  }
  if (input_column !== output_column && input_column !== label_column) return [];
  return [{ message: 'Input must be another column than output and label', about: 'input_column' }];
}
