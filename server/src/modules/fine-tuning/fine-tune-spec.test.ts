import { randomUUID } from 'node:crypto';
import { fineTuneDefaults } from '@bakehouse/contract/fine-tune-numbers';
import { fineTunePayload } from '@bakehouse/contract/fine-tuning';
import { expect, test } from 'vitest';
import {
  type FineTuneFields,
  toDataSpec,
  toParameters,
  withDefaults,
  withDetectedFormat,
} from './fine-tune-spec.ts';
import { findAdaptationFaults } from './validation/base-faults.ts';

const fields: FineTuneFields = {
  ...fineTuneDefaults,
  rewards: [],
  lora_target_modules: ['q_proj'],
  file_name: 'rows.csv',
  input_column: 'q',
  output_column: 'a',
};

test('a run always uses the date of its request', () => {
  expect(toDataSpec(fields, new Date('2026-11-20T23:59:59Z'))).toMatchObject({
    file_path: 'rows.csv',
    input_column: 'q',
    date: '2026-11-20',
  });
});

test('a run uses the requested seed and alpha, or the defaults', () => {
  const now = new Date();
  expect(toDataSpec(fields, now).seed).toBe(42);
  expect(toDataSpec({ ...fields, seed: 0 }, now).seed).toBe(0);
  expect(toParameters(withDefaults({ ...fields, lora_r: 16 })).lora).toMatchObject({
    alpha: 32,
    use_rslora: false,
  });
  expect(toParameters(withDefaults({ ...fields, lora_r: 64, use_rslora: true })).lora).toMatchObject({
    alpha: 16,
    use_rslora: true,
  });
  expect(toParameters(withDefaults({ ...fields, lora_r: 16, lora_alpha: 0.5 })).lora).toMatchObject({
    r: 16,
    alpha: 0.5,
  });
});

test.each([
  { seed: -1 },
  { seed: 1.5 },
  { seed: 2 ** 31 },
  { lora_alpha: 0 },
  { lora_alpha: 1025 },
  { beta: 0 },
  { beta: 11 },
  { sft_weight: -1 },
  { sft_weight: 11 },
  { desirable_weight: 0 },
  { undesirable_weight: 101 },
  { objective: 'ppo' },
  { lr_scheduler: 'polynomial' },
  { warmup_ratio: 0.6 },
  { weight_decay: -0.1 },
  { max_grad_norm: -1 },
  { neftune_noise_alpha: 101 },
  { eval_steps: 1.5 },
  { use_rslora: 'yes' },
  { packing: 'yes' },
  { early_stopping_patience: 101 },
])('refuses %j', (field) => {
  const payload = {
    user_id: 'ada',
    asset_id: randomUUID(),
    base_model: randomUUID(),
    model_name: 'Mine',
    file_name: 'rows.csv',
  };
  expect(fineTunePayload.safeParse(payload).error?.issues).toBeUndefined();
  expect(fineTunePayload.safeParse({ ...payload, ...field }).error?.issues).toMatchObject([
    { path: Object.keys(field) },
  ]);
});

test('a run trains without a system prompt if its data was validated without one', () => {
  const read = {
    format: 'alpaca',
    ...{ input_column: '', output_column: '' },
    ...{ rejected_column: null, label_column: null, system_column: null },
  } as const;
  expect(withDetectedFormat({ ...fields, system_column: '' }, read).system_column).toBe('');
  expect(withDetectedFormat(fields, { ...read, system_column: 'system' }).system_column).toBe('system');
});

test('KTO trains without the output layer, and reads the columns of rated answers', () => {
  const { lora_target_modules: _, ...open } = fields;
  const columns = { input_column: 'q', output_column: 'a', label_column: 'up' };
  const settled = withDefaults({ ...open, ...columns, batch_size: 4, desirable_weight: 2 });
  expect(settled).toMatchObject({ objective: 'kto', label_column: 'up' });
  expect(settled.lora_target_modules).not.toContain('lm_head');
  expect(toParameters(settled)).toMatchObject({
    ...{ objective: 'kto', beta: 0.1, desirable_weight: 2, undesirable_weight: 1 },
  });
  expect(toDataSpec(settled, new Date())).toMatchObject({ format: 'feedback', label_column: 'up' });
  const read = { format: 'feedback', ...columns, rejected_column: null, system_column: null } as const;
  expect(withDetectedFormat(open, read)).toMatchObject({ data_format: 'feedback', ...columns });
});

test('DPO trains without the output layer by default', () => {
  const { lora_target_modules: _, ...open } = fields;
  const read = {
    format: 'preference',
    ...{ input_column: '', output_column: 'chosen' },
    ...{ rejected_column: 'rejected', label_column: null, system_column: null },
  } as const;
  const settled = withDefaults(
    withDetectedFormat({ ...open, input_column: null, output_column: null }, read),
  );
  expect(settled).toMatchObject({ objective: 'dpo', rejected_column: 'rejected', input_column: null });
  expect(settled.lora_target_modules).toHaveLength(7);
  expect(settled.lora_target_modules).not.toContain('lm_head');
  expect(toParameters(settled)).toMatchObject({ objective: 'dpo', beta: 0.1, sft_weight: 0 });
  expect(toDataSpec({ ...open, rejected_column: 'worse' }, new Date())).toMatchObject({
    format: 'preference',
    rejected_column: 'worse',
  });
  const better = withDefaults(withDetectedFormat({ ...open, objective: 'sft' }, read));
  expect(better).toMatchObject({ objective: 'sft' });
  expect(better.lora_target_modules).toHaveLength(8);
  expect(withDefaults(open).objective).toBe('sft');
  expect(withDefaults({ ...open, file_name: 'book.txt', data_format: 'preference' }).objective).toBe('sft');
});

test('a full fine-tune has no adapter', () => {
  const { lora_target_modules: _, lora_r, lora_dropout, use_rslora, ...open } = fields;
  const full = withDefaults({ ...open, adaptation: 'full' });
  expect(toParameters(full).lora).toBeNull();
  expect(full).toMatchObject({ adaptation: 'full', lora_target_modules: [] });
  expect(full).not.toHaveProperty('lora_r');
  expect(toParameters(withDefaults(open)).lora).toMatchObject({ r: 8, alpha: 16, dropout: 0.05 });
});

test.each([
  ['lora_r', 8],
  ['lora_alpha', 16],
  ['lora_dropout', 0.05],
  ['use_rslora', false],
  ['use_dora', false],
  ['lora_target_modules', ['q_proj']],
])('%s is refused for a full fine-tune and accepted for an adapter', (name, value) => {
  const message = `${name} is for LoRA: leave it out of a full fine-tune`;
  const sent = { [name]: value };
  expect(findAdaptationFaults({ adaptation: 'full', ...sent })).toEqual([{ message, about: name }]);
  expect(findAdaptationFaults({ adaptation: 'lora', ...sent })).toEqual([]);
});
