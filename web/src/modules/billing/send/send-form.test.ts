import { expect, test } from 'vitest';
import { insufficientCreditProblem, sendBlockedReason, sendLimitReason, sendProblems } from './send-form.ts';

test('an empty form shows what is missing', () => {
  expect(sendProblems({ recipient: ' ', amount: '0' }, 'USD')).toEqual({
    recipient: 'Recipient username cannot be empty',
    amount: 'Amount must be greater than 0',
  });
  expect(sendProblems({ recipient: 'ada', amount: '1' }, 'USD')).toEqual({});
});

test('does not send a decimal comma', () => {
  expect(sendProblems({ recipient: 'ada', amount: '0,02' }, 'USD')).toEqual({
    amount: 'Use only digits, and a point for decimals, e.g. 0.02',
  });
});

test('rejects more than the balance or the sendable credits before asking', () => {
  const balance = { available: '250', sendable: '125.000001' };
  expect(insufficientCreditProblem('125.000001', balance)).toBeUndefined();
  expect(insufficientCreditProblem('126', balance)).toBe('You can send up to $5.00000004');
  expect(insufficientCreditProblem('275', balance)).toBe(
    'Insufficient balance. Required: $11.00. Available: $5.00.',
  );
});

const balanceOf = ([balance, held, given, sendable]: readonly [number, number, number, number]) => ({
  balance: String(balance),
  held: String(held),
  available: String(balance - held),
  given: String(given),
  sendable: String(sendable),
});

test.each([
  [[0, 0, 0, 0], 'You have no credits.', true],
  [
    [25, 0, 25, 0],
    'All your credits are promotional. You can spend them, but not send them to other users.',
    true,
  ],
  [[25, 25, 5, 0], 'Running work may need all of your credits.', true],
  [
    [25, 0, 5, 0],
    'You have reached this server’s 24-hour limit, or you still owe a payment that was reversed.',
    false,
  ],
] as const)('explains why nothing of %j can be sent', (of, reason, buy) => {
  expect(sendBlockedReason(balanceOf(of))).toEqual({ reason, buy });
});

test.each([
  [[25, 5, 0, 20], undefined],
  [[25, 5, 10, 15], 'The rest are promotional credits, which cannot be sent to other users.'],
  [[25, 0, 10, 3], 'This server limits how much you can send within 24 hours.'],
] as const)('explains why less of %j can be sent than spent', (of, reason) => {
  expect(sendBlockedReason(balanceOf(of))).toBeNull();
  expect(sendLimitReason(balanceOf(of))).toBe(reason);
});
