import { expect, it } from 'vitest';
import {
  asksFor,
  differsFromDefaults,
  initialParameters,
  learningRateAdvice,
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

it('opens an advanced panel that holds something of its own', () => {
  expect(differsFromDefaults(initialParameters, 'lora')).toBe(false);
  expect(differsFromDefaults({ ...initialParameters, lora_target_modules: ['q_proj'] }, 'lora')).toBe(true);
  expect(differsFromDefaults({ ...initialParameters, stride: 10 }, 'segmentation')).toBe(true);
});
