import { expect, test } from 'vitest';
import { amountInBgl, amountProblem, bglProblem, toBgl, typedAmount } from './typed-amount.ts';

test.each(['5', ' 5 ', '12.', '12.5', '12.50', '.5', '007', '39999999999.99'])(
  '%j is a valid amount',
  (text) => {
    expect(amountProblem(text, 'USD')).toBeUndefined();
  },
);

const unreadable = 'Use only digits, and a point for decimals, e.g. 0.02';
const tooSmall = 'Amount must be greater than 0';

test.each([
  ['0,02', unreadable],
  ['1e3', unreadable],
  ['1.2.3', unreadable],
  ['abc', unreadable],
  ['', tooSmall],
  ['.', tooSmall],
  ['0.00', tooSmall],
  ['-3', tooSmall],
  ['1.234', 'Amount must have at most two decimals'],
  ['40000000000', 'Amount must be less than $40,000,000,000.00'],
  ['9'.repeat(24), 'Amount must be less than $40,000,000,000.00'],
])('%j is not a valid amount: %s', (text, problem) => {
  expect(amountProblem(text, 'USD')).toBe(problem);
  expect(amountInBgl(text, 'USD')).toBeNull();
});

test.each([
  ['0.000001', undefined],
  ['999999999999.999999', undefined],
  ['0,02', unreadable],
  ['0', 'Amount must be greater than 0, with at most 6 decimals'],
  ['0.0000001', 'Amount must be greater than 0, with at most 6 decimals'],
  ['1000000000000', 'Amount must be less than 1,000,000,000,000.00 BGL'],
  ['9'.repeat(24), 'Amount must be less than 1,000,000,000,000.00 BGL'],
])('%j BGL in an operator field: %s', (bgl, problem) => {
  expect(bglProblem(bgl, 'BGL')).toBe(problem);
});

test.each([
  ['1', 'USD', '25'],
  ['5', 'USD', '125'],
  ['0.01', 'USD', '0.25'],
  ['12.', 'USD', '300'],
  ['.5', 'USD', '12.5'],
  ['39999999999.99', 'USD', '999999999999.75'],
  ['5', 'BGL', '5'],
  ['0.01', 'BGL', '0.01'],
] as const)('%s %s are %s BGL', (text, currency, bgl) => {
  expect(amountInBgl(text, currency)).toBe(bgl);
});

test('a dollar sign is accepted when typing dollars and rejected when typing BGL', () => {
  expect(toBgl('$5', 'USD')).toBe('125');
  expect(toBgl('$', 'USD')).toBe('');
  expect(toBgl('5', 'BGL')).toBe('5');
  expect(bglProblem(toBgl('$5', 'BGL'), 'BGL')).toBe(unreadable);
});

test.each([
  ['125', 'USD', '5'],
  ['0.1', 'USD', '0.004'],
  ['12.5', 'BGL', '12.5'],
] as const)('%s BGL is typed as %s %s', (bgl, currency, text) => {
  expect(typedAmount(bgl, currency)).toBe(text);
});
