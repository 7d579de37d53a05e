import { fineTuneDefaults } from '@bakehouse/contract/fine-tune-numbers';
import { expect, test } from 'vitest';
import type { FineTuneFields } from '../fine-tune-spec.ts';
import { findFormatFaults } from './find-format-faults.ts';

const faultsOf = (more: Partial<FineTuneFields>) =>
  findFormatFaults({ ...fineTuneDefaults, rewards: [], file_name: 'rows.csv', ...more }).map(
    ({ about, message }) => `${about}: ${message}`,
  );
const rewards: FineTuneFields['rewards'] = [{ type: 'pattern', pattern: '^Yes', weight: 1 }];
const rated = { input_column: 'q', output_column: 'a', label_column: 'up', batch_size: 2 };
const named = { input_column: 'prompt', output_column: 'chosen', rejected_column: 'rejected' };

test.each<Partial<FineTuneFields>>([
  {},
  { data_format: 'preference' },
  { data_format: 'preference', objective: 'sft', lora_target_modules: ['lm_head'] },
  { ...named, objective: 'dpo' },
  { ...named, input_column: null },
  { objective: 'dpo' },
  rated,
  { ...rated, input_column: null, objective: 'kto' },
  { data_format: 'feedback', batch_size: 4 },
  { data_format: 'feedback', objective: 'sft', lora_target_modules: ['lm_head'] },
  { objective: 'sft', neftune_noise_alpha: 5, packing: true },
  { objective: 'sft', input_column: 'q', output_column: 'a' },
  { objective: 'sft', file_name: 'book.txt' },
  { objective: 'grpo', rewards },
  { objective: 'grpo', rewards, input_column: 'q', output_column: 'a' },
  { data_format: 'prompts', rewards, input_column: 'q' },
])('accepts %j', (fields) => {
  expect(faultsOf(fields)).toEqual([]);
});

const needs = 'DPO needs preferences: a better and a worse answer in each row';
const ratingsNeeded = 'KTO needs feedback: an answer in each row, and whether it is good';
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
  [{ ...named, packing: true }, 'packing: Packing is for SFT: switch it off with DPO'],
  [{ ...rated, packing: true }, 'packing: Packing is for SFT: switch it off with KTO'],
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
    { ...rated, batch_size: 1 },
    'batch_size: KTO compares the answers of a batch: its batch size must be at least 2',
  ],
  [{ objective: 'kto', data_format: 'alpaca' }, `objective: ${ratingsNeeded}`],
  [{ objective: 'dpo', data_format: 'feedback' }, `objective: ${needs}`],
  [
    { objective: 'kto', input_column: 'q', output_column: 'a', batch_size: 4 },
    `label_column: ${ratingsNeeded}. Name the label column`,
  ],
  [
    { ...rated, lora_target_modules: ['q_proj', 'lm_head'] },
    'lora_target_modules: lm_head cannot be trained with KTO: leave it out',
  ],
  [
    { ...rated, neftune_noise_alpha: 5 },
    'neftune_noise_alpha: NEFTune noise is for SFT: set it to 0 with KTO',
  ],
  [{ ...rated, output_column: null }, 'output_column: Output and label columns are required for feedback'],
  [{ ...rated, label_column: 'a' }, 'label_column: Output and label must be different columns'],
  [{ ...rated, input_column: 'up' }, 'input_column: Input must be another column than output and label'],
  [
    { ...rated, data_format: 'prompt_completion' },
    'label_column: Only feedback has a label column: choose the format feedback, or leave it out',
  ],
  [
    { data_format: 'prompt_completion' },
    'input_column: Input and output columns are required for non-text files',
  ],
  [
    { objective: 'grpo', data_format: 'messages', rewards },
    'objective: GRPO needs prompts: rows that ask something, which the model answers',
  ],
  [
    { objective: 'sft', data_format: 'prompts' },
    'objective: Prompts have no answers that SFT could learn: choose GRPO',
  ],
  [{ objective: 'sft', rewards }, 'rewards: Rewards are for GRPO: leave them out with SFT'],
  [{ ...rated, rewards }, 'rewards: Rewards are for GRPO: leave them out with KTO'],
  [{ data_format: 'prompts' }, 'rewards: GRPO learns from rewards: add at least one'],
  [
    {
      objective: 'grpo',
      rewards: [{ type: 'json_schema', json_schema: { a: 'x'.repeat(40_000) }, weight: 1 }],
    },
    'rewards: Reward 1 (JSON Schema): it must have at most 32768 characters',
  ],
  [
    { objective: 'grpo', rewards, max_new_tokens: 512 },
    'max_new_tokens: Max answer tokens must be fewer than the max chunk size, which the prompt shares',
  ],
  [{ objective: 'grpo', rewards, packing: true }, 'packing: Packing is for SFT: switch it off with GRPO'],
  [
    { objective: 'grpo', rewards, lora_target_modules: ['lm_head'] },
    'lora_target_modules: lm_head cannot be trained with GRPO: leave it out',
  ],
  [
    { objective: 'grpo', rewards, output_column: 'a' },
    'input_column: An input column is required in addition to the output column',
  ],
  [
    { objective: 'grpo', rewards, input_column: 'a', output_column: 'a' },
    'output_column: Input and output must be different columns',
  ],
])('refuses %j by field', (fields, fault) => {
  expect(faultsOf(fields)).toEqual([fault]);
});
