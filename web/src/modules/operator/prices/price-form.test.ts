import { expect, test } from 'vitest';
import { type PriceForm, priceProblems } from './price-form.ts';

const now = new Date('2030-01-01T12:00:00');
const good: PriceForm = { amount: '2.5', when: 'now', at: '' };

test.each<[Partial<PriceForm>, object]>([
  [{}, {}],
  [{ when: 'later', at: '2030-01-01T12:01' }, {}],
  [{ amount: '100000' }, {}],
  [{ at: '2000-01-01T00:00' }, {}],
  [{ amount: '' }, { amount: 'Price must be greater than 0, with at most 6 decimals' }],
  [{ amount: '0' }, { amount: 'Price must be greater than 0, with at most 6 decimals' }],
  [{ amount: '0.0000001' }, { amount: 'Price must be greater than 0, with at most 6 decimals' }],
  [{ amount: '100000.01' }, { amount: 'Price must be at most $4,000.00 = 100,000.00 BGL' }],
  [{ when: 'later' }, { at: 'Enter the date and the time' }],
  [{ when: 'later', at: '2030-01-01T12:00' }, { at: 'Choose a later time, or change the price now' }],
  [{ when: 'later', at: '2031-01-02T12:00' }, { at: 'Choose a time within 365 days' }],
])('%j has the problems %j', (changed, problems) => {
  expect(priceProblems({ ...good, ...changed }, { unit_price: '2', next: null }, now)).toEqual(problems);
});

test('rejects the current price, unless it withdraws an upcoming change', () => {
  expect(priceProblems({ ...good, amount: '2.50' }, { unit_price: '2.5', next: null }, now)).toEqual({
    amount: 'This is the current price',
  });
  const next = { unit_price: '3', valid_from: '2030-02-01T00:00:00.000Z' };
  expect(priceProblems(good, { unit_price: '2.5', next }, now)).toEqual({});
});
