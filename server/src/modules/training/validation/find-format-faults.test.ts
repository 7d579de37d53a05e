import { fineTuneDefaults } from '@bakehouse/contract/fine-tune-numbers';
import { expect, test } from 'vitest';
import type { FineTuneFields } from '../fine-tune-spec.ts';
import { findFormatFaults } from './find-format-faults.ts';

const faultsOf = (more: Partial<FineTuneFields>) =>
  findFormatFaults({ ...fineTuneDefaults, file_name: 'rows.csv', ...more }).map(
    ({ about, message }) => `${about}: ${message}`,
  );
const named = { input_column: 'prompt', output_column: 'chosen', rejected_column: 'rejected' };

test.each<Partial<FineTuneFields>>([
  {},
  { data_format: 'preference' },
  { data_format: 'preference', objective: 'sft', lora_target_modules: ['lm_head'] },
  { ...named, objective: 'dpo' },
  { ...named, input_column: null },
  { objective: 'dpo' },
  { objective: 'sft', neftune_noise_alpha: 5 },
  { objective: 'sft', input_column: 'q', output_column: 'a' },
  { objective: 'sft', file_name: 'book.txt' },
])('%j may be learnt from', (fields) => {
  expect(faultsOf(fields)).toEqual([]);
});

const needs = 'DPO needs preferences: a better and a worse answer in each row';
const required = 'Output and rejected columns are required for preferences';
test.each<[Partial<FineTuneFields>, string]>([
  [{ objective: 'dpo', data_format: 'messages' }, `objective: ${needs}`],
  [{ objective: 'dpo', data_format: 'preference', file_name: 'book.txt' }, `objective: ${needs}`],
  [
    { objective: 'dpo', input_column: 'q', output_column: 'a' },
    `rejected_column: ${needs}. Name the rejected column`,
  ],
  [
    { ...named, lora_target_modules: ['q_proj', 'lm_head'] },
    'lora_target_modules: lm_head cannot be trained with DPO: leave it out',
  ],
  [
    { ...named, neftune_noise_alpha: 5 },
    'neftune_noise_alpha: NEFTune noise is for SFT: set it to 0 with DPO',
  ],
  [{ ...named, output_column: null }, `output_column: ${required}`],
  [{ ...named, data_format: 'preference', rejected_column: '' }, `rejected_column: ${required}`],
  [{ ...named, rejected_column: 'chosen' }, 'rejected_column: Output and rejected must be different columns'],
  [
    { ...named, input_column: 'rejected' },
    'input_column: Input must be another column than output and rejected',
  ],
  [
    { ...named, data_format: 'prompt_completion' },
    'rejected_column: Only preferences have a rejected column: choose the format preference, or leave it out',
  ],
  [
    { data_format: 'prompt_completion' },
    'input_column: Input and output columns are required for non-text files',
  ],
])('%j is refused by the field', (fields, fault) => {
  expect(faultsOf(fields)).toEqual([fault]);
});
