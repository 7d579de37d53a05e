import { expect, test } from 'vitest';
import { groupByDay, type Transaction, totalsOf, untilDay, withRunningBalance } from './transaction-rows.ts';

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
    usage_window_id: null,
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

test('totals are exact, and of the rows that are shown', () => {
  const at = (day: number, part: Partial<Transaction>) =>
    transaction({ transaction_date: new Date(2026, 10, day, 9).toISOString(), ...part });
  const rows = withRunningBalance(
    [
      at(20, { transaction_type: 'payment', amount: '0.1' }),
      at(19, { transaction_type: 'payment', amount: '0.2' }),
      at(18, { transaction_type: 'credit', amount: '125' }),
    ],
    '124.7',
  );
  expect(totalsOf(rows)).toEqual({ incoming: '125', outgoing: '0.3', net: '124.7' });
  expect(totalsOf(untilDay(rows, '2026-11-19'))).toEqual({ incoming: '125', outgoing: '0.2', net: '124.8' });
  expect(totalsOf([])).toEqual({ incoming: '0', outgoing: '0', net: '0' });
});
