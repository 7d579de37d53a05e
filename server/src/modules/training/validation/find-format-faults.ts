import { HEAD_WITH_DPO, NEFTUNE_WITH_DPO } from '@bakehouse/contract/fine-tune-numbers';
import type { FineTunePayload } from '@bakehouse/contract/training';
import {
  type FineTuneFields,
  isTextFile,
  namedFormat,
  type SettledFields,
  settle,
} from '../fine-tune-spec.ts';

type FormatFault = { message: string; about: keyof FineTunePayload };

const DPO_NEEDS = 'DPO needs preferences: a better and a worse answer in each row';

/** What is missing or contradicts itself in how rows are to be read, and learnt from. Pure. */
export function findFormatFaults(fields: FineTuneFields): FormatFault[] {
  return [...findColumnFaults(fields), ...findObjectiveFaults(settle(fields))];
}

/** What the objective does not go with, as far as the format is known. Pure. */
export function findObjectiveFaults(fields: SettledFields): FormatFault[] {
  if (fields.objective !== 'dpo') return [];
  const format = isTextFile(fields.file_name) ? 'text' : namedFormat(fields);
  if (format !== null && format !== 'preference') return [{ message: DPO_NEEDS, about: 'objective' }];
  const faults: FormatFault[] = [];
  if (fields.lora_target_modules.includes('lm_head')) {
    faults.push({ message: HEAD_WITH_DPO, about: 'lora_target_modules' });
  }
  if (fields.neftune_noise_alpha > 0)
    faults.push({ message: NEFTUNE_WITH_DPO, about: 'neftune_noise_alpha' });
  return faults;
}

function findColumnFaults(fields: FineTuneFields): FormatFault[] {
  if (isTextFile(fields.file_name)) return [];
  const { objective, input_column, output_column, rejected_column } = fields;
  const format = namedFormat(fields);
  if (format === 'preference') return findPreferenceFaults(fields);
  if (rejected_column) {
    const message = 'Only preferences have a rejected column: choose the format preference, or leave it out';
    return [{ message, about: 'rejected_column' }];
  }
  const namesPair = format === null && Boolean(input_column || output_column);
  if (namesPair && objective === 'dpo') {
    return [{ message: `${DPO_NEEDS}. Name the rejected column`, about: 'rejected_column' }];
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

/** Without any column they are those that are called so; whole conversations need no input. */
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
