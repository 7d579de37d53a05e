import { expect, test } from 'vitest';
import { sendProblems } from './send-form.ts';

test('an empty form says what is missing', () => {
  expect(sendProblems({ recipient: ' ', amount: '0' }, 'USD')).toEqual({
    recipient: 'Recipient username cannot be empty',
    amount: 'Amount must be greater than 0',
  });
  expect(sendProblems({ recipient: 'ada', amount: '1' }, 'USD')).toEqual({});
});
