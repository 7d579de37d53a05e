import { expect, test } from 'vitest';
import { usdProblem } from './checkout-form.ts';

test.each(['1', '5.5', '12.34', '10000'])('accepts %s', (usd) => {
  expect(usdProblem(usd)).toBeUndefined();
});

test.each(['', '0', '0.99', '10000.01', '1.', '1'.repeat(40)])('rejects %j', (usd) => {
  expect(usdProblem(usd)).toBe('Choose an amount from $1 to $10,000');
});

test.each(['1,5', '1e3', 'five'])('%j is not a number', (usd) => {
  expect(usdProblem(usd)).toBe('Use only digits, and a point for decimals, e.g. 0.02');
});
