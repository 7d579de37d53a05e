import { expect, test } from 'vitest';
import { defaultPrices } from '../billing/prices/prices.ts';
import { tokenPrices } from './token-prices.ts';

test.each([
  { accelerator: null, device: 'CPU' },
  { accelerator: 'NVIDIA_H100_80GB', device: 'GPU' },
] as const)('an answer on $accelerator has the token price of a $device', ({ accelerator, device }) => {
  expect(tokenPrices({ accelerator }, defaultPrices)).toEqual({
    prompt: defaultPrices[`prompt_tokens:${device}`],
    completion: defaultPrices[`completion_tokens:${device}`],
  });
});
