import { render } from '@testing-library/react';
import { expect, test } from 'vitest';
import { currencyChoice } from '../../../lib/format/currency.ts';
import { SignedAmount } from './signed-amount.tsx';

test.each([
  ['credit', '+$5.00'],
  ['deposit', '+$5.00'],
  ['refund', '+$5.00'],
  ['debit', '−$5.00'],
  ['withdrawal', '−$5.00'],
  ['payment', '−$5.00'],
  ['transfer', '−$5.00'],
])('a transaction of the type %s is shown as %s', (transaction_type, shown) => {
  currencyChoice.set('USD');
  const transaction = { transaction_type, amount: '125', status: 'completed' };
  const { container } = render(<SignedAmount transaction={transaction as never} />);
  expect(container.textContent).toBe(shown);
});
