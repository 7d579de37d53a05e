import { expect, test } from 'vitest';
import { agreedPrice, currentPriceOf } from './cost.ts';
import { defaultPrices } from './prices.ts';

/* Rows refer to prices forever, so an id must never be removed from the list. */

test('every price id that a row may refer to is on the list', () => {
  expect(Object.keys(defaultPrices)).toEqual(
    expect.arrayContaining([
      'training:NVIDIA_TESLA_V100',
      'training:NVIDIA_TESLA_A100',
      'training:NVIDIA_TESLA_A100_80GB',
      'training:NVIDIA_H100_80GB',
      'training:CPU',
      'text_serving:GPU',
      'text_serving:CPU',
    ]),
  );
});

test('every price that a row may store is hourly', () => {
  const kept = Object.values(defaultPrices).filter(({ id }) =>
    /^(training|text_serving|image_serving):/.test(id),
  );
  for (const price of kept) expect(agreedPrice(price.id, price.unitPriceMicro)).toEqual(price);
});

test('a price that is no longer on the list is shown by its id, at the agreed amount', () => {
  const agreed = { id: 'training:ABACUS', label: 'training:ABACUS', unit: 'hour', unitPriceMicro: 7n };
  expect(agreedPrice('training:ABACUS', 7n)).toEqual(agreed);
  expect(currentPriceOf(defaultPrices, { price_id: 'training:ABACUS', unit_price_micro: 7n })).toEqual(
    agreed,
  );
});
