import { expect, test } from 'vitest';
import { describeConfiguration } from './describe-configuration.ts';

test('a configuration is summarized by the values it would fill in', () => {
  expect(
    describeConfiguration({
      hfModelId: 'Crumb',
      fine_tune_payload: { epochs: 1_000, learning_rate: 0.0000005, lora_r: 8, file_name: 'rye-2.csv' },
    }),
  ).toBe('Crumb · 1,000 epochs · learning rate 5e−7 · rank 8 · rye-2.csv · ');
});
