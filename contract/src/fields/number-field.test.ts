import { expect, test } from 'vitest';
import { defaultTargetModules, fineTuneDefaults, fineTuneNumbers } from '../fine-tune-numbers.ts';
import { fineTunePayload, storedPayload } from '../fine-tuning.ts';
import { type NumberField, numberProblem } from './number-field.ts';

/** Minimum, maximum and default of each number, from the product; other maximums are ours. */
test.each([
  ['train_test_split', 0.1, 0.95, 0.8, 0.05],
  ['lora_r', 1, 256, 8, 1],
  ['lora_dropout', 0, 0.5, 0.05, 0.01],
  ['learning_rate', 0, 1, 0.001, 0.001],
  ['epochs', 1, 1000, 1, 1],
  ['batch_size', 1, 1024, 1, 1],
  ['eval_batch_size', 1, 1024, 1, 1],
  ['gradient_accumulation_steps', 1, 1024, 4, 1],
  ['max_chunk_size', 1, 131_072, 512, 1],
  ['stride', 1, 131_072, 50, 1],
  ['min_segment_length', 1, 131_072, 15, 1],
  ['beta', 0.001, 10, 0.1, 0.05],
  ['sft_weight', 0, 10, 0, 0.1],
  ['warmup_ratio', 0, 0.5, 0.03, 0.01],
  ['weight_decay', 0, 1, 0, 0.01],
  ['max_grad_norm', 0, 1000, 1, 0.1],
  ['eval_steps', 0, 100_000, 0, 1],
  ['early_stopping_patience', 0, 100, 0, 1],
  ['neftune_noise_alpha', 0, 100, 0, 0.5],
] as const)('%s has minimum %d, maximum %d, default %d and step %d', (name, min, max, byDefault, step) => {
  const schema = fineTunePayload.shape[name];
  const takes = (value: number) => schema.safeParse(value).success;
  // Adapter fields get their defaults only if there is an adapter.
  expect(schema.parse(undefined) ?? fineTuneDefaults[name]).toBe(byDefault);
  // The learning rate must exceed its minimum.
  expect(takes(min)).toBe(name !== 'learning_rate');
  expect([min - step, max, max + step].map(takes)).toEqual([false, true, false]);
  expect(fineTuneNumbers[name].step).toBe(step);
});

test('trains all LoRA modules by default and segments by regex', () => {
  const modules = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj', 'lm_head'];
  expect(storedPayload.shape.lora_target_modules.parse(undefined)).toEqual(modules);
  expect(defaultTargetModules('sft')).toEqual(modules);
  expect(defaultTargetModules('dpo')).toEqual(modules.slice(0, -1));
  expect(fineTunePayload.shape.segmentation_method.parse(undefined)).toBe('regex');
});

test('form and server have the same messages for every number', () => {
  for (const [name, field] of Object.entries<NumberField>(fineTuneNumbers)) {
    const schema = fineTunePayload.shape[name as keyof typeof fineTuneNumbers];
    for (const value of [field.min - 1, field.min, field.default, field.max, field.max + 1]) {
      const said = schema.safeParse(value).error?.issues[0]?.message;
      expect(said, `${name} ${value}`).toBe(numberProblem(field, value));
    }
    const byDefault = schema.parse(undefined) ?? fineTuneDefaults[name as keyof typeof fineTuneNumbers];
    expect(byDefault).toBe(field.default);
  }
});

test('a missing number is too small, and fractions fit only some fields', () => {
  expect(numberProblem(fineTuneNumbers.epochs, Number.NaN)).toBe('Epochs must be at least 1');
  expect(numberProblem(fineTuneNumbers.epochs, 2.5)).toBe('Epochs must be a whole number');
  expect(numberProblem(fineTuneNumbers.learning_rate, 0)).toBe('Learning rate must be greater than 0');
  expect(numberProblem(fineTuneNumbers.lora_dropout, 0.25)).toBeUndefined();
});
