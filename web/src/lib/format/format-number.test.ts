import { expect, test } from 'vitest';
import { formatNumber, withMinus } from './format-number.ts';

test('numbers have thousands separators and a true minus sign', () => {
  expect([0, 999, 12_345, -1_234.5].map((value) => formatNumber(value))).toEqual([
    '0',
    '999',
    '12,345',
    '−1,234.5',
  ]);
  expect(formatNumber(-0.125, { maximumFractionDigits: 1 })).toBe('−0.1');
});

test('exponents also have a true minus sign', () => {
  expect(withMinus(1e-7)).toBe('1e−7');
  expect(withMinus((-0.00012).toExponential(1))).toBe('−1.2e−4');
});
