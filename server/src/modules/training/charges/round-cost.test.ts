import { expect, test } from 'vitest';
import { defaultPrice } from '../../credits/prices/default-price.ts';
import { runCostMicro } from '../validation/estimate-run.ts';
import { roundCostMicro } from './round-cost.ts';

const run = { price: defaultPrice('training:CPU'), devices: 1, settledSeconds: 35 } as const;
const costOf = (seconds: number) => runCostMicro(run.price, seconds, 1);

test('a round costs what goes beyond the rounds that were settled', () => {
  expect(roundCostMicro(run, 95)).toBe(costOf(60));
});

test('what was charged and lost with its machine is done again for nothing', () => {
  expect(roundCostMicro(run, 20)).toBe(0n);
  expect(roundCostMicro(run, 35)).toBe(0n);
  expect(roundCostMicro(run, 45)).toBe(costOf(10));
});
