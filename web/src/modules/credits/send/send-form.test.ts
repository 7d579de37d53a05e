import { expect, test } from 'vitest';
import { lackOfCredit, sendProblems } from './send-form.ts';

test('an empty form says what is missing', () => {
  expect(sendProblems({ recipient: ' ', amount: '0' }, 'USD')).toEqual({
    recipient: 'Recipient username cannot be empty',
    amount: 'Amount must be greater than 0',
  });
  expect(sendProblems({ recipient: 'ada', amount: '1' }, 'USD')).toEqual({});
});

test('a decimal comma sends nothing', () => {
  expect(sendProblems({ recipient: 'ada', amount: '0,02' }, 'USD')).toEqual({
    amount: 'Use only digits, and a point for decimals, e.g. 0.02',
  });
});

test('what is more than there is, or than can be sent, is said before it is asked about', () => {
  const balance = { available: '250', sendable: '125.000001' };
  expect(lackOfCredit('125.000001', balance)).toBeUndefined();
  expect(lackOfCredit('126', balance)).toBe('You can send up to $5.00000004');
  expect(lackOfCredit('275', balance)).toBe('Insufficient balance. Required: $11.00. Available: $10.00.');
});
