import { getBalance } from '@bakehouse/contract/credits';
import { expect, test, vi } from 'vitest';
import { call } from '../../../../lib/api/api-client.ts';
import { readStatement } from './read-statement.ts';

vi.mock('../../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));

const movement = (transaction_id: string, amount: string) => ({
  transaction_id,
  transaction_date: '2026-11-20T08:00:00.000Z',
  transaction_type: 'credit',
  amount,
  status: 'completed',
});

test('reads every page, and begins again when something was booked meanwhile', async () => {
  const balances = ['3', '6', '6', '6'];
  const firstPages = [[movement('b', '2')], [movement('c', '3'), movement('b', '2')]];
  vi.mocked(call).mockImplementation(async (...args: unknown[]) => {
    const [endpoint, input] = args as [unknown, { query?: { cursor?: string } }];
    if (endpoint === getBalance) return { balance: balances.shift() };
    return input.query?.cursor
      ? { transactions: [movement('a', '1')], next_cursor: null }
      : { transactions: firstPages.shift(), next_cursor: 'older' };
  });
  const rows = await readStatement('u1', {});
  expect(rows.map((row) => [row.transaction.transaction_id, row.balanceAfter])).toEqual([
    ['c', '6'],
    ['b', '3'],
    ['a', '1'],
  ]);
});
