import { parseBgl } from '@bakehouse/contract/money';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { costMicro, quote } from './cost.ts';
import { defaultPrice } from './default-price.ts';
import { defaultPrices } from './prices.ts';

const HOUR_MS = 3_600_000n;

test('an hour on two A100 costs twice the hourly price', () => {
  expect(
    quote([{ price: defaultPrice('training:NVIDIA_TESLA_A100'), parts: 2n * HOUR_MS, label: '2 x A100' }]),
  ).toEqual({
    items: [{ label: '2 x A100', quantity: 2, unit: 'hour', unit_price: '40', amount: '80' }],
    total: '80',
    total_usd: '3.2',
  });
});

test('rounds each item up to the next micro-BGL', () => {
  // 2.5 BGL per hour is 0.69 micro-BGL per millisecond; 2 BGL per million tokens is 2 micro-BGL per token.
  expect(costMicro([{ price: defaultPrice('training:CPU'), parts: 1n }])).toBe(1n);
  expect(costMicro([{ price: defaultPrice('completion_tokens:CPU'), parts: 7n }])).toBe(14n);
  expect(costMicro([{ price: defaultPrice('training:CPU'), parts: 0n }])).toBe(0n);
});

test('no cost is negative', () => {
  expect(() => costMicro([{ price: defaultPrice('training:CPU'), parts: -1n }])).toThrow();
});

test('the total is the sum of the items, grows with the parts, and is rounded by less than one micro-BGL per item', () => {
  const item = fc.record({
    price: fc.constantFrom(...Object.values(defaultPrices)),
    parts: fc.bigInt(0n, 10n ** 12n),
  });
  fc.assert(
    fc.property(fc.array(item, { maxLength: 6 }), fc.bigInt(0n, 10n ** 9n), (items, more) => {
      const { items: lines, total } = quote(items);
      expect(lines.reduce((sum, line) => sum + parseBgl(line.amount), 0n)).toBe(parseBgl(total));
      expect(parseBgl(total)).toBe(costMicro(items));
      for (const { price, parts } of items) {
        const [once, twice] = [costMicro([{ price, parts }]), costMicro([{ price, parts: parts + more }])];
        expect(twice).toBeGreaterThanOrEqual(once);
        const split = once + costMicro([{ price, parts: more }]);
        expect(split - twice).toBeGreaterThanOrEqual(0n);
        expect(split - twice).toBeLessThanOrEqual(1n);
      }
    }),
  );
});
