import { expect, it } from 'vitest';
import {
  asksFor,
  blankReading,
  differsFromDefaults,
  initialParameters,
  learningRateAdvice,
  wireParameters,
} from './training-parameters.ts';

it('a fine-tune from the hub has no chunks', () => {
  expect(asksFor('huggingface', 'stride')).toBe(false);
  expect(asksFor('huggingface', 'lora_r')).toBe(true);
  expect(asksFor('finetune', 'stride')).toBe(true);
});

it('warns about learning rates far off', () => {
  expect(learningRateAdvice(0.001)).toBeNull();
  expect(learningRateAdvice(0.1)).toContain('0.0002');
  expect(learningRateAdvice(0.000001)).toContain('0.0002');
});

it('warns earlier with DPO, which bears less', () => {
  expect(learningRateAdvice(0.00005, 'dpo')).toBeNull();
  expect(learningRateAdvice(0.001, 'dpo')).toContain('With DPO this is much higher than usual');
  expect(learningRateAdvice(0.0000001, 'dpo')).toContain('0.00005');
});

it('names what DPO alone is asked for only with it', () => {
  const read = { ...initialParameters, ...blankReading('preference'), rejected_column: 'worse' };
  expect(wireParameters(read)).toMatchObject({
    ...{ data_format: 'preference', objective: 'dpo', rejected_column: 'worse', beta: 0.1, sft_weight: 0 },
  });
  const sft = wireParameters({ ...read, objective: 'sft' });
  expect(sft).toMatchObject({ objective: 'sft' });
  expect(sft).not.toHaveProperty('beta');
  expect(wireParameters(read)).not.toHaveProperty('neftune_noise_alpha');
  expect(wireParameters(initialParameters)).not.toHaveProperty('rejected_column');
});

it('opens an advanced panel that holds something of its own', () => {
  expect(differsFromDefaults(initialParameters, 'lora')).toBe(false);
  expect(differsFromDefaults({ ...initialParameters, lora_target_modules: ['q_proj'] }, 'lora')).toBe(true);
  expect(differsFromDefaults({ ...initialParameters, stride: 10 }, 'segmentation')).toBe(true);
});
