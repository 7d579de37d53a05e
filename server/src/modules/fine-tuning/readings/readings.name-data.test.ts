import { expect, test } from 'vitest';
import type { DataToRead } from '../validation/read-data.ts';
import { dataCacheKey } from './readings.ts';

const input = {
  base: 'base',
  dataFile: { sha256: 'a' },
  spec: {
    data: { file_path: 'rows.csv', max_chunk_size: 512, date: '2026-01-31' },
    parameters: { epochs: 1, learning_rate: 1e-4, lora: { r: 8, alpha: 16, dropout: 0 } },
  },
};
const cacheKeyOf = (data: object, parameters: object = {}) => {
  const spec = {
    data: { ...input.spec.data, ...data },
    parameters: { ...input.spec.parameters, ...parameters },
  };
  return dataCacheKey({ ...input, spec } as unknown as DataToRead);
};

test('inputs with the same report have the same cache key, whatever their date', () => {
  expect(cacheKeyOf({ date: '2026-02-01' })).toBe(cacheKeyOf({}));
  expect(cacheKeyOf({}, { learning_rate: 1, beta: 1, sft_weight: 1 })).toBe(cacheKeyOf({}));
  const optimiser = { lr_scheduler: 'linear', warmup_ratio: 0.1, weight_decay: 0.1, max_grad_norm: 0 };
  expect(
    cacheKeyOf({}, { ...optimiser, neftune_noise_alpha: 5, eval_steps: 5, early_stopping_patience: 2 }),
  ).toBe(cacheKeyOf({}));
  const scaled = { r: 8, alpha: 32, dropout: 0.1, use_rslora: true };
  expect(cacheKeyOf({}, { lora: scaled })).toBe(cacheKeyOf({}));
  expect(cacheKeyOf({}, { objective: 'dpo' })).not.toBe(cacheKeyOf({}));
  expect(cacheKeyOf({ max_chunk_size: 256 })).not.toBe(cacheKeyOf({}));
  expect(cacheKeyOf({}, { epochs: 2 })).not.toBe(cacheKeyOf({}));
  const measured = (sha256: string) =>
    dataCacheKey({ ...input, validationFile: { path: 'b', sha256 } } as unknown as DataToRead);
  expect(new Set([cacheKeyOf({}), measured('b'), measured('c')]).size).toBe(3);
});
