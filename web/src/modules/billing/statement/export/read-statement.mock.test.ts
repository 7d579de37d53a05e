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

test('reads every page of the period, and computes balances back from its end', async () => {
  const asked: object[] = [];
  vi.mocked(call).mockImplementation(async (...args: unknown[]) => {
    const [, { query }] = args as [unknown, { query: { cursor?: string } }];
    asked.push(query);
    return query.cursor
      ? { transactions: [movement('a', '1')], closing_balance: null, next_cursor: null }
      : { transactions: [movement('b', '2')], closing_balance: '3', next_cursor: 'older' };
  });
  const rows = await readStatement('u1', { from: '2026-11-01', to: '2026-11-20' });
  expect(rows.map((row) => [row.transaction.transaction_id, row.balanceAfter])).toEqual([
    ['b', '3'],
    ['a', '1'],
  ]);
  const period = { from: '2026-11-01', to: '2026-11-20', time_zone: expect.any(String) };
  expect(asked).toMatchObject([period, { ...period, cursor: 'older' }]);
});
