import { expect, test } from 'vitest';
import { groupByDay, type Transaction, withRunningBalance } from './transaction-rows.ts';

function transaction(part: Partial<Transaction>): Transaction {
  return {
    transaction_id: crypto.randomUUID(),
    transaction_date: new Date(2026, 10, 20, 9).toISOString(),
    transaction_type: 'payment',
    amount: '1',
    description: '',
    status: 'completed',
    asset_name: null,
    buyer_id: null,
    seller_id: null,
    pod_id: null,
    dataset_id: null,
    transaction_hash: null,
    ...part,
  };
}

test('one heading per day', () => {
  const at = (day: number, hour: number) =>
    transaction({ transaction_date: new Date(2026, 10, day, hour).toISOString() });
  const rows = groupByDay([at(20, 9), at(20, 1), at(19, 23), at(2, 12)], new Date(2026, 10, 20, 12));
  expect(rows.map((row) => (row.kind === 'day' ? row.heading : '-'))).toEqual([
    'Today',
    '-',
    '-',
    'Yesterday',
    '-',
    expect.stringContaining('2 November 2026'),
    '-',
  ]);
});

test('the running balance goes back to nothing before the first movement', () => {
  const rows = withRunningBalance(
    [
      transaction({ status: 'pending', amount: '50' }),
      transaction({ transaction_type: 'refund', amount: '0.5' }),
      transaction({ transaction_type: 'payment', amount: '3.000001' }),
      transaction({ transaction_type: 'credit', amount: '125' }),
    ],
    '122.499999',
  );
  expect(rows.map((row) => row.balanceAfter)).toEqual(['122.499999', '121.999999', '125']);
});
