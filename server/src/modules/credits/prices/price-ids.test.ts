import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { MIGRATIONS_DIR } from '../../../platform/db/setup/migrate.ts';
import { agreedPrice } from './agreed-price.ts';
import { priceOfNow } from './price-of-now.ts';
import { defaultPrices } from './prices.ts';

/* Rows name prices for good: an id that was given once stays on the list. */

const ID = /'((?:training|text_serving|image_serving|prompt_tokens|completion_tokens|pictures):[^']+)'/g;

test('each price that a migration names is on the list', () => {
  const named = readdirSync(MIGRATIONS_DIR)
    .filter((file) => /^\d{4}_.*\.sql$/.test(file))
    .flatMap((file) => [...readFileSync(path.join(MIGRATIONS_DIR, file), 'utf8').matchAll(ID)])
    .map(([, id]) => id);
  expect(named).toContain('training:NVIDIA_TESLA_V100');
  expect(Object.keys(defaultPrices)).toEqual(expect.arrayContaining(named));
});

test('what rows keep a price of is paid by the hour', () => {
  const kept = Object.values(defaultPrices).filter(({ id }) =>
    /^(training|text_serving|image_serving):/.test(id),
  );
  for (const price of kept) expect(agreedPrice(price.id, price.unitPriceMicro)).toEqual(price);
});

test('a price that is not on the list any more is shown by its id, and stays at what was agreed', () => {
  const agreed = { id: 'training:ABACUS', label: 'training:ABACUS', unit: 'hour', unitPriceMicro: 7n };
  expect(agreedPrice('training:ABACUS', 7n)).toEqual(agreed);
  expect(priceOfNow(defaultPrices, { price_id: 'training:ABACUS', unit_price_micro: 7n })).toEqual(agreed);
});
