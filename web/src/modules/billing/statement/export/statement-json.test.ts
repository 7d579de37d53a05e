import { expect, test } from 'vitest';
import type { Transaction } from '../transaction-rows.ts';
import { statementJson } from './statement-json.ts';

test('writes amounts as signed strings, with the balance after each', () => {
  const line = (part: Partial<Transaction>) => ({ transaction_id: 't', ...part }) as Transaction;
  const written = JSON.parse(
    statementJson([
      { transaction: line({ transaction_type: 'payment', amount: '0.000001' }), balanceAfter: '124.999999' },
      { transaction: line({ transaction_type: 'credit', amount: '125' }), balanceAfter: '125' },
    ]),
  ) as unknown;
  expect(written).toMatchObject({
    currency: 'BGL',
    transactions: [
      { transaction_id: 't', amount: '-0.000001', balance: '124.999999' },
      { amount: '125', balance: '125' },
    ],
  });
});
