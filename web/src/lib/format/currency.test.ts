import { expect, test } from 'vitest';
import { showAmount, showApart, showNumber, showShort, showUnrounded } from './currency.ts';

test.each([
  ['125', 'USD', '$5.00'],
  ['125', 'BGL', '125.00 BGL'],
  ['0', 'USD', '$0.00'],
  ['0.25', 'USD', '$0.01'],
  ['0.125', 'USD', '$0.0050'],
  ['0.086', 'USD', '$0.0034'],
  ['0.575139', 'USD', '$0.02'],
  ['0.0025', 'USD', '$0.00010'],
  ['0.0024', 'USD', '<$0.0001'],
  ['-0.000001', 'USD', '−$0.0001 or less'],
  ['0.01', 'BGL', '0.01 BGL'],
  ['0.00345', 'BGL', '0.0035 BGL'],
  ['0.000001', 'BGL', '<0.0001 BGL'],
  ['-0.004', 'BGL', '−0.0040 BGL'],
  ['-250.5', 'USD', '−$10.02'],
  ['31250000', 'USD', '$1,250,000.00'],
] as const)('%s BGL in %s is %s', (bgl, currency, text) => {
  expect(showAmount(bgl, currency)).toBe(text);
});

test.each([
  ['50', '2', 'USD', '$2.00', '$0.08'],
  ['0.335', '0.3275', 'USD', '$0.0134', '$0.0131'],
  ['0.086', '0', 'USD', '$0.0034', '$0.00'],
  ['125.000001', '125', 'BGL', '125.000001 BGL', '125.000000 BGL'],
  ['125.000001', '125', 'USD', '$5.00000004', '$5.00000000'],
] as const)('%s and %s BGL in %s are distinguished as %s and %s', (one, other, currency, ...texts) => {
  expect(showApart(one, other, currency)).toEqual(texts);
});

test('a chart value has as many decimals as the largest value needs, at least two', () => {
  expect(showNumber(0.5, 'USD', { largest: 2 })).toBe('$0.50');
  expect(showNumber(0.0025, 'USD', { largest: 0.012 })).toBe('$0.0025');
  expect(showNumber(0.01, 'BGL', { largest: 0.012 })).toBe('0.01 BGL');
  expect(showNumber(0, 'USD', { largest: 0 })).toBe('$0.00');
  expect(showNumber(-1_250.5, 'USD', { largest: 2_000 })).toBe('−$1,250.50');
  expect(showNumber(-0.5, 'BGL', { largest: 2 })).toBe('−0.50 BGL');
});

test('axis labels all have the same number of decimals', () => {
  const onAxis = (values: number[], step: number) =>
    values.map((value) => showNumber(value, 'USD', { largest: Math.max(...values), step }));
  expect(onAxis([0, 0.005, 0.01, 0.015, 0.02], 0.005)).toEqual([
    '$0.000',
    '$0.005',
    '$0.010',
    '$0.015',
    '$0.020',
  ]);
  expect(onAxis([0, 5, 10], 5)).toEqual(['$0.00', '$5.00', '$10.00']);
});

test.each([
  ['125', 'BGL', '125.00 BGL'],
  ['9999.99', 'BGL', '9,999.99 BGL'],
  ['12345.67', 'BGL', '12.34K BGL'],
  ['1234567.89', 'BGL', '1.23M BGL'],
  ['1234567.89', 'USD', '$49,382.72'],
  ['30864197.25', 'USD', '$1.23M'],
  ['49999999999.99', 'USD', '$1.99B'],
  ['0.000001', 'USD', '<$0.0001'],
] as const)('%s BGL in %s is %s in a narrow header', (bgl, currency, text) => {
  expect(showShort(bgl, currency)).toBe(text);
});

test.each([
  ['75.125', 'USD', '$3.005'],
  ['12.34', 'USD', '$0.4936'],
  ['75.125', 'BGL', '75.125 BGL'],
  ['125', 'USD', '$5.00'],
] as const)('%s BGL in %s without rounding: %s', (bgl, currency, text) => {
  expect(showUnrounded(bgl, currency)).toBe(text);
});
