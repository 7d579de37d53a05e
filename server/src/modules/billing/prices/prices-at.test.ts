import { expect, test } from 'vitest';
import { defaultPrices } from './prices.ts';
import { type PriceChange, pricesAt } from './prices-at.ts';

const at = (second: number) => new Date(Date.UTC(2030, 0, 1, 0, 0, second));
const change = (id: string, second: number, unit_price_micro: bigint): PriceChange => ({
  id,
  price_id: 'training:CPU',
  unit_price_micro,
  valid_from: at(second),
});

test.each([
  [0, defaultPrices['training:CPU'].unitPriceMicro],
  [10, 1n],
  [19, 1n],
  [20, 3n],
  [99, 3n],
])('uses the latest effective change after %i seconds', (second, micro) => {
  // In any order; the later change wins if two have the same time.
  const changes = [change('c', 20, 3n), change('a', 10, 1n), change('b', 20, 2n)];
  const prices = pricesAt(changes, at(second));
  expect(prices['training:CPU']).toEqual({ ...defaultPrices['training:CPU'], unitPriceMicro: micro });
  expect(prices['text_serving:CPU']).toEqual(defaultPrices['text_serving:CPU']);
});
