import { expect, it } from 'vitest';
import {
  presetOf,
  presetValues,
  suggestParameters,
  valuesForAdaptation,
  valuesForObjective,
} from './suggested-parameters.ts';
import { initialParameters, layerModules } from './training-parameters.ts';

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
])('%i rows are trained for %i epochs', (rows, epochs) => {
  expect(epochsOf(rows)).toBe(epochs);
});

it('an uncounted large file is trained for one epoch, and a file without rows does not divide by zero', () => {
  expect(epochsOf(null)).toBe(1);
  expect(epochsOf(0)).toBe(10);
});

it('a large base gets the usual LoRA rate, a small base a higher one', () => {
  const rateOf = (baseBytes: number) => suggestParameters({ rows: 100, baseBytes }).learning_rate;
  expect(rateOf(STARTER_BYTES)).toBe(0.001);
  expect(rateOf(LARGE_BYTES)).toBe(0.0002);
});

it('the output layer is not trained, because a base may share it with its embeddings', () => {
  const { lora_target_modules: modules } = suggestParameters({ rows: 100, baseBytes: STARTER_BYTES });
  expect(modules).toHaveLength(7);
  expect(modules).not.toContain('lm_head');
});

it('DPO gets a lower rate, and its presets omit modules it cannot train', () => {
  const basis = { rows: 100, baseBytes: STARTER_BYTES };
  expect(suggestParameters(basis, 'dpo')).toEqual({
    ...suggestParameters(basis, 'sft'),
    learning_rate: 0.00005,
  });
  expect(suggestParameters({ ...basis, baseBytes: LARGE_BYTES }, 'dpo').learning_rate).toBe(0.000005);
  expect(presetValues('specified', null, 'dpo')?.lora_target_modules).not.toContain('lm_head');
});

it('changing the objective keeps the preset, or custom values', () => {
  const basis = { rows: 100, baseBytes: STARTER_BYTES };
  const suggested = { ...initialParameters, ...presetValues('suggested', basis) };
  const after = { ...suggested, ...valuesForObjective('dpo', suggested, basis) };
  expect(after).toMatchObject({ objective: 'dpo', learning_rate: 0.00005 });
  expect(presetOf(after, basis)).toBe('suggested');
  expect(valuesForObjective('sft', after, basis)).toMatchObject({ objective: 'sft', learning_rate: 0.001 });
  const own = {
    ...initialParameters,
    epochs: 4,
    lora_target_modules: ['q_proj' as const, 'lm_head' as const],
  };
  expect(valuesForObjective('dpo', own, basis)).toEqual({
    objective: 'dpo',
    lora_target_modules: ['q_proj'],
  });
});

it('KTO uses batches of four rows instead of accumulating them', () => {
  const basis = { rows: 100, baseBytes: STARTER_BYTES };
  expect(valuesForObjective('kto', initialParameters, basis)).toMatchObject({
    ...{ objective: 'kto', batch_size: 4, gradient_accumulation_steps: 1 },
    lora_target_modules: expect.not.arrayContaining(['lm_head']),
  });
  expect(valuesForObjective('kto', { ...initialParameters, batch_size: 8 }, basis)).not.toHaveProperty(
    'batch_size',
  );
  expect(suggestParameters(basis, 'kto').learning_rate).toBe(0.0001);
  const kto = { ...initialParameters, ...valuesForObjective('kto', initialParameters, basis) };
  expect(valuesForObjective('sft', kto, basis)).toMatchObject({
    batch_size: 1,
    gradient_accumulation_steps: 4,
  });
  expect(valuesForObjective('sft', { ...kto, batch_size: 8 }, basis)).not.toHaveProperty('batch_size');
  const four = { ...initialParameters, batch_size: 4, gradient_accumulation_steps: 1 };
  expect(valuesForObjective('dpo', four, basis)).not.toHaveProperty('batch_size');
});

it('detects the preset of the parameters, and none after a change', () => {
  const basis = { rows: 30, baseBytes: STARTER_BYTES };
  const suggested = { ...initialParameters, ...presetValues('suggested', basis) };
  expect(presetOf(initialParameters, basis)).toBe('specified');
  expect(presetOf(initialParameters, null)).toBe('specified');
  expect(presetOf(suggested, basis)).toBe('suggested');
  expect(presetOf({ ...suggested, epochs: 4 }, basis)).toBeNull();
  expect({ ...suggested, ...presetValues('specified', basis) }).toEqual(initialParameters);
  expect(presetValues('suggested', null)).toBeNull();
});

it('a full fine-tune gets its own suggested rate, and never the specified one', () => {
  const rates = (baseBytes: number) =>
    (['sft', 'dpo', 'kto', 'grpo'] as const).map(
      (objective) => suggestParameters({ rows: 100, baseBytes }, objective, 'full').learning_rate,
    );
  expect(rates(STARTER_BYTES)).toEqual([0.00005, 0.000001, 0.000001, 0.000001]);
  expect(rates(LARGE_BYTES)).toEqual([0.00002, 0.0000005, 0.0000005, 0.0000005]);
  expect(presetValues('specified', null, 'sft', 'full')).toBeNull();
});

it('changing the adaptation switches to the suggested preset, but keeps custom values', () => {
  const basis = { rows: 100, baseBytes: STARTER_BYTES };
  const full = { ...initialParameters, ...valuesForAdaptation('full', initialParameters, basis) };
  expect(full).toMatchObject({ adaptation: 'full', learning_rate: 0.00005 });
  expect(presetOf(full, basis)).toBe('suggested');
  expect(valuesForAdaptation('lora', full, basis)).toMatchObject({
    adaptation: 'lora',
    learning_rate: 0.001,
  });
  const own = { ...initialParameters, learning_rate: 0.00003 };
  expect(valuesForAdaptation('full', own, basis)).toEqual({ adaptation: 'full' });
  expect(valuesForAdaptation('qlora', own, basis)).toEqual({
    adaptation: 'qlora',
    lora_target_modules: layerModules,
  });
  const unknown = valuesForAdaptation('full', initialParameters, null);
  expect(unknown).toEqual({ adaptation: 'full', learning_rate: 0.00002 });
});
