import { expect, test } from 'vitest';
import { defaultPrice } from '../../billing/prices/default-price.ts';
import { runCostMicro } from '../validation/estimate-run.ts';
import { roundCostMicro } from './cost.ts';

const run = {
  price: defaultPrice('training:CPU'),
  devices: 1,
  settledSeconds: 35,
  unpaidSeconds: 0,
} as const;
const costOf = (seconds: number) => runCostMicro(run.price, seconds, 1);

test('a round costs its own work, without the work of settled rounds', () => {
  expect(roundCostMicro(run, 95)).toBe(costOf(60));
});

test('charged work that was lost with its machine is repeated for free', () => {
  expect(roundCostMicro(run, 20)).toBe(0n);
  expect(roundCostMicro(run, 35)).toBe(0n);
  expect(roundCostMicro(run, 45)).toBe(costOf(10));
});

test('a round pays for earlier unpaid work once it has done new work', () => {
  const resumed = { ...run, unpaidSeconds: 30 };
  expect(roundCostMicro(resumed, 35)).toBe(0n);
  expect(roundCostMicro(resumed, 45)).toBe(costOf(40));
});

test('a completed round pays for earlier unpaid work even without new work, or after repeating lost work', () => {
  const resumed = { ...run, unpaidSeconds: 30 };
  expect(roundCostMicro(resumed, 35, true)).toBe(costOf(30));
  expect(roundCostMicro(resumed, 20, true)).toBe(costOf(30));
  expect(roundCostMicro(resumed, 45, true)).toBe(costOf(40));
});
