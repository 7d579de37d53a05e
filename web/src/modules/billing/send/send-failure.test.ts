import { expect, test } from 'vitest';
import { ApiError, toApiError } from '../../../lib/api/api-error.ts';
import { describeSendFailure, SEND_OPERATION } from './send-failure.ts';

const answer = (status: number, body: unknown) =>
  describeSendFailure(
    toApiError(status, typeof body === 'string' ? body : JSON.stringify(body), null, SEND_OPERATION),
  );

const RECIPIENT = 'Failed to transfer Bagels. Please check the recipient username and try again.';
const PROCESSING = 'There was an error processing your transfer. Please try again.';

test("shows the server's reason for a problem with the recipient", () => {
  const message = 'You cannot send credits to yourself';
  expect(answer(400, { error: { message, param: 'recipient_id' } })).toEqual({
    title: RECIPIENT,
    reason: message,
    isUncertain: false,
  });
});

test('an answer without a message asks to check the recipient', () => {
  expect(answer(404, '')).toEqual({
    title: RECIPIENT,
    reason: 'Failed to send Bagels. Please check the recipient username.',
    isUncertain: false,
  });
});

test('shows missing credit in the current currency', () => {
  const error = { code: 'insufficient_funds', required_amount: '250', available_amount: '125', message: 'x' };
  expect(answer(402, { error })).toEqual({
    title: PROCESSING,
    reason: 'Insufficient balance. Required: $10.00. Available: $5.00.',
    isUncertain: false,
  });
});

test.each([
  new ApiError('The server cannot be reached.', { status: 0, code: 'network' }),
  new ApiError('Request timeout after 10000ms', { status: 0, code: 'timeout' }),
  new Error('It broke'),
])('without a response it says that nothing is sent twice: %s', (error) => {
  expect(describeSendFailure(error)).toEqual({
    title: PROCESSING,
    reason: 'Failed to send Bagels. Please try again.',
    isUncertain: true,
  });
});

test.each([
  [new ApiError('Request Timeout', { status: 408 }), true],
  [new ApiError('Bad gateway', { status: 502 }), true],
  // Failed before a request was sent.
  [new ApiError('API key not found', { status: 0, code: 'no_key' }), false],
])('is uncertain only if the outcome is unknown: %s', (error, isUncertain) => {
  expect(describeSendFailure(error)).toMatchObject({ isUncertain });
});
