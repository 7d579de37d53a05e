import { expect, test } from 'vitest';
import {
  groupByDay,
  nameOfGroup,
  type Transaction,
  totalsOf,
  withRunningBalance,
  workOf,
} from './transaction-rows.ts';

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
    model_id: null,
    run_id: null,
    generation_id: null,
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

test('pending transactions of all days share one heading', () => {
  const at = (day: number, part: Partial<Transaction> = {}) =>
    transaction({ transaction_date: new Date(2026, 10, day, 9).toISOString(), ...part });
  const rows = groupByDay(
    [at(19, { status: 'pending' }), at(20, { status: 'pending' }), at(20), at(19)],
    new Date(2026, 10, 20, 12),
  );
  expect(rows.map((row) => (row.kind === 'day' ? row.heading : '-'))).toEqual([
    'Pending',
    '-',
    '-',
    'Today',
    '-',
    'Yesterday',
    '-',
  ]);
});

test('a group is named like its deployment, even if tokens were charged last', () => {
  const tokens = transaction({ asset_name: 'crumb-expert', usage_window_id: 'w1' });
  const hours = transaction({ asset_name: 'Crumb Expert', description: 'Serving Crumb Expert' });
  expect(nameOfGroup([tokens, hours])).toBe('Crumb Expert');
  expect(nameOfGroup([tokens])).toBe('crumb-expert');
});

test("a deployment's charges of one day are one row, at the position of the newest", () => {
  const at = (hour: number, part: Partial<Transaction> = {}) =>
    transaction({ transaction_date: new Date(2026, 10, 20, hour).toISOString(), ...part });
  const pod = { pod_id: 'p1' };
  const rows = groupByDay([
    at(9, { ...pod, status: 'pending' }),
    at(8, pod),
    at(7),
    at(6, { ...pod, transaction_type: 'refund' }),
    at(5, pod),
    at(4, { pod_id: 'p2' }),
    transaction({ ...pod, transaction_date: new Date(2026, 10, 19, 5).toISOString() }),
  ]);
  expect(rows.map((row) => (row.kind === 'group' ? row.transactions.length : row.kind))).toEqual([
    'day',
    'transaction',
    'day',
    2,
    'transaction',
    'transaction',
    'transaction',
    'day',
    'transaction',
  ]);
});

test('a line links to its work', () => {
  const about = (part: Partial<Transaction>) => workOf(transaction(part));
  expect(about({ run_id: 'r', model_id: 'm', dataset_id: 'd' })).toEqual({
    to: '/runs/$id',
    params: { id: 'r' },
  });
  expect(about({ pod_id: 'p', model_id: 'm' })).toEqual({
    to: '/my-deployments/$podId',
    params: { podId: 'p' },
  });
  expect(about({ generation_id: 'g' })).toEqual({ to: '/gallery/$id', params: { id: 'g' } });
  expect(about({ model_id: 'm' })).toEqual({ to: '/model/$id/description', params: { id: 'm' } });
  expect(about({ dataset_id: 'd' })).toEqual({ to: '/dataset/$id/description', params: { id: 'd' } });
  expect(about({})).toBeNull();
});

test('the running balance ends at zero before the first movement', () => {
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

test('totals are exact', () => {
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
  expect(totalsOf([])).toEqual({ incoming: '0', outgoing: '0', net: '0' });
});
