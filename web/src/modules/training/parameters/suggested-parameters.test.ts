import { expect, it } from 'vitest';
import { presetOf, presetValues, suggestParameters, valuesWith } from './suggested-parameters.ts';
import { initialParameters } from './training-parameters.ts';

const STARTER_BYTES = 270_000_000;
const LARGE_BYTES = 16_000_000_000;
const epochsOf = (rows: number | null) => suggestParameters({ rows, baseBytes: STARTER_BYTES }).epochs;

it.each([
  [1, 10],
  [30, 10],
  [60, 5],
  [100, 3],
  [8_333, 3],
  [12_500, 2],
  [1_000_000, 1],
])('%i rows are read %i times', (rows, epochs) => {
  expect(epochsOf(rows)).toBe(epochs);
});

it('a file that is too large to count is read once, and one without rows does not divide by them', () => {
  expect(epochsOf(null)).toBe(1);
  expect(epochsOf(0)).toBe(10);
});

it('a large base learns at the usual rate of LoRA, a small one at a higher one', () => {
  const rateOf = (baseBytes: number) => suggestParameters({ rows: 100, baseBytes }).learning_rate;
  expect(rateOf(STARTER_BYTES)).toBe(0.001);
  expect(rateOf(LARGE_BYTES)).toBe(0.0002);
});

it('the output layer, which a base may share with its embeddings, is left as it is', () => {
  const { lora_target_modules: modules } = suggestParameters({ rows: 100, baseBytes: STARTER_BYTES });
  expect(modules).toHaveLength(7);
  expect(modules).not.toContain('lm_head');
});

it('DPO learns at a lower rate, and its presets leave out what it cannot train', () => {
  const basis = { rows: 100, baseBytes: STARTER_BYTES };
  expect(suggestParameters(basis, 'dpo')).toEqual({
    ...suggestParameters(basis, 'sft'),
    learning_rate: 0.00005,
  });
  expect(suggestParameters({ ...basis, baseBytes: LARGE_BYTES }, 'dpo').learning_rate).toBe(0.000005);
  expect(presetValues('specified', null, 'dpo')?.lora_target_modules).not.toContain('lm_head');
});

it('a preset stays the same with another objective, and other values stay', () => {
  const basis = { rows: 100, baseBytes: STARTER_BYTES };
  const suggested = { ...initialParameters, ...presetValues('suggested', basis) };
  const after = { ...suggested, ...valuesWith('dpo', suggested, basis) };
  expect(after).toMatchObject({ objective: 'dpo', learning_rate: 0.00005 });
  expect(presetOf(after, basis)).toBe('suggested');
  expect(valuesWith('sft', after, basis)).toMatchObject({ objective: 'sft', learning_rate: 0.001 });
  const own = {
    ...initialParameters,
    epochs: 4,
    lora_target_modules: ['q_proj' as const, 'lm_head' as const],
  };
  expect(valuesWith('dpo', own, basis)).toEqual({ objective: 'dpo', lora_target_modules: ['q_proj'] });
});

it('tells which preset the parameters are, and none once one of them is changed', () => {
  const basis = { rows: 30, baseBytes: STARTER_BYTES };
  const suggested = { ...initialParameters, ...presetValues('suggested', basis) };
  expect(presetOf(initialParameters, basis)).toBe('specified');
  expect(presetOf(initialParameters, null)).toBe('specified');
  expect(presetOf(suggested, basis)).toBe('suggested');
  expect(presetOf({ ...suggested, epochs: 4 }, basis)).toBeNull();
  expect({ ...suggested, ...presetValues('specified', basis) }).toEqual(initialParameters);
  expect(presetValues('suggested', null)).toBeNull();
});
