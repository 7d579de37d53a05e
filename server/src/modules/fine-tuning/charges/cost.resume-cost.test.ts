import { expect, test } from 'vitest';
import { defaultPrice } from '../../billing/prices/default-price.ts';
import { runCostMicro } from '../validation/estimate-run.ts';
import { settleSeconds } from './cost.ts';

const run = {
  kind: 'text' as const,
  ...{ price: defaultPrice('training:CPU'), devices: 1 },
  ...{ settledSeconds: 40, unpaidSeconds: 15, chargedMicro: 5n, heldMicro: 1_000_000n },
};

test('a charged round has paid for all its saved work', () => {
  expect(settleSeconds(run, 100)).toEqual({ settledSeconds: 100, unpaidSeconds: 0 });
});

test('a failed round owes its saved work, in addition to what earlier rounds owe', () => {
  const failed = { ...run, chargedMicro: 0n };
  expect(settleSeconds(failed, 100)).toEqual({ settledSeconds: 100, unpaidSeconds: 75 });
  expect(settleSeconds(failed, 40)).toEqual({ settledSeconds: 40, unpaidSeconds: 15 });
});

test('a failed round owes at most its hold; work beyond it is free', () => {
  const failed = { ...run, chargedMicro: 0n, heldMicro: runCostMicro(run.price, 60, 1) };
  const { unpaidSeconds } = settleSeconds(failed, 100);
  expect(unpaidSeconds).toBeGreaterThan(59);
  expect(unpaidSeconds).toBeLessThan(61);
  const free = { ...failed, heldMicro: 0n, price: { ...run.price, unitPriceMicro: 0n } };
  expect(settleSeconds(free, 100).unpaidSeconds).toBe(0);
});

test('charged work stays charged even if it was lost with its machine', () => {
  expect(settleSeconds(run, 10)).toEqual({ settledSeconds: 40, unpaidSeconds: 0 });
  expect(settleSeconds({ ...run, chargedMicro: 0n }, 10)).toEqual({ settledSeconds: 40, unpaidSeconds: 15 });
});
