import { expect, test } from 'vitest';
import { usdProblem } from './checkout-form.ts';

test.each(['1', '5.5', '12.34', '10000'])('%s can be paid', (usd) => {
  expect(usdProblem(usd)).toBeUndefined();
});

test.each(['', '0', '0.99', '10000.01', '1.', '1,5', 'five'])('%j cannot', (usd) => {
  expect(usdProblem(usd)).toBe('Choose an amount from $1 to $10,000');
});
