import { expect, test } from 'vitest';
import { amountInBgl, isAmountBeingTyped, typedAmount } from './typed-amount.ts';

test.each(['', '0', '5', '12.', '12.5', '12.50', '.5', '999999999999.99'])('%j may be typed', (text) => {
  expect(isAmountBeingTyped(text)).toBe(true);
});

test.each(['-1', '1.234', '1,5', '1e3', ' 1', '1.2.3', 'abc', '1234567890123'])('%j may not', (text) => {
  expect(isAmountBeingTyped(text)).toBe(false);
});

test.each([
  ['5', 'USD', '125'],
  ['0.01', 'USD', '0.25'],
  ['12.', 'USD', '300'],
  ['.5', 'USD', '12.5'],
  ['999999999999.99', 'USD', '24999999999999.75'],
  ['5', 'BGL', '5'],
  ['0.01', 'BGL', '0.01'],
] as const)('%s %s are %s BGL', (text, currency, bgl) => {
  expect(amountInBgl(text, currency)).toBe(bgl);
});

test.each(['', '.', '0', '0.00', '-1', 'x'])('%j is no amount', (text) => {
  expect(amountInBgl(text, 'USD')).toBeNull();
});

test.each([
  ['125', 'USD', '5'],
  ['0.1', 'USD', '0.004'],
  ['12.5', 'BGL', '12.5'],
] as const)('%s BGL are typed as %s %s', (bgl, currency, text) => {
  expect(typedAmount(bgl, currency)).toBe(text);
});
