import { expect, test } from 'vitest';
import { showAmount, showNumber } from './currency.ts';

test.each([
  ['125', 'USD', '$5.00'],
  ['125', 'BGL', '125.00 BGL'],
  ['0', 'USD', '$0.00'],
  ['0.1', 'USD', '<$0.01'],
  ['0.125', 'USD', '$0.01'],
  ['0.004', 'BGL', '<0.01 BGL'],
  ['-0.004', 'BGL', '-<0.01 BGL'],
  ['-250.5', 'USD', '-$10.02'],
  ['31250000', 'USD', '$1,250,000.00'],
] as const)('%s BGL in %s is %s', (bgl, currency, text) => {
  expect(showAmount(bgl, currency)).toBe(text);
});

test('a number on an axis has as many decimals as the axis needs, and two at least', () => {
  expect(showNumber(0.5, 'USD', 2)).toBe('$0.50');
  expect(showNumber(0.0025, 'USD', 0.012)).toBe('$0.0025');
  expect(showNumber(0.01, 'BGL', 0.012)).toBe('0.01 BGL');
  expect(showNumber(0, 'USD', 0)).toBe('$0.00');
});
