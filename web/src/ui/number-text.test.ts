import { expect, test } from 'vitest';
import { numberText, steppedNumber, typedNumber } from './number-text.ts';

test("numbers show their digits, up to the field's maximum decimals", () => {
  expect(numberText(0.00005, 8)).toBe('0.00005');
  expect(numberText(4_294_967_295, 0)).toBe('4294967295');
  expect(numberText(1.23456, 2)).toBe('1.23');
  expect(numberText(null, 2)).toBe('');
});

test.each([
  ['7.5', 7.5],
  [' 20 ', 20],
  ['.5', 0.5],
  ['3.', 3],
  ['-2', -2],
  ['1,000', 1000],
  ['2e-4', 0.0002],
  ['0.12345678', 0.123457],
  ['', null],
  ['-', undefined],
  ['2e-', undefined],
  ['1.2.3', undefined],
  // In locales with a decimal comma this is one half, not 5.
  ['0,5', undefined],
])('%j is read as %j', (text, number) => {
  expect(typedNumber(text, 6)).toBe(number);
});

test('steps are exact and stop at the bounds', () => {
  expect(steppedNumber(0.1, 0.2, { maxDecimals: 6 })).toBe(0.3);
  expect(steppedNumber(9, 1, { max: 9, maxDecimals: 0 })).toBe(9);
  expect(steppedNumber(12, -1, { max: 9, maxDecimals: 0 })).toBe(9);
  expect(steppedNumber(null, 1, { min: 10, max: 200, maxDecimals: 0 })).toBe(10);
});
