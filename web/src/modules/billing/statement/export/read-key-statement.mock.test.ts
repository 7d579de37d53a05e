import { expect, test, vi } from 'vitest';
import { call } from '../../../../lib/api/api-client.ts';
import { readKeyStatement } from './read-key-statement.ts';

vi.mock('../../../../lib/api/api-client.ts', () => ({ call: vi.fn<typeof call>() }));

test('reads every page of one key and skips pending movements', async () => {
  const asked: unknown[] = [];
  vi.mocked(call).mockImplementation(async (...args: unknown[]) => {
    const [, { query }] = args as [unknown, { query: { cursor?: string } }];
    asked.push(query);
    return query.cursor
      ? { transactions: [{ transaction_id: 'a', status: 'completed' }], next_cursor: null }
      : {
          transactions: [
            { transaction_id: 'held', status: 'pending' },
            { transaction_id: 'b', status: 'completed' },
          ],
          next_cursor: '7',
        };
  });
  const rows = await readKeyStatement('u1', { period: { from: '2026-11-01' }, keyId: 'k1' });
  expect(rows).toMatchObject([
    { transaction: { transaction_id: 'b' }, balanceAfter: null },
    { transaction: { transaction_id: 'a' }, balanceAfter: null },
  ]);
  expect(asked).toMatchObject([
    { from: '2026-11-01', key_id: 'k1' },
    { from: '2026-11-01', key_id: 'k1', cursor: '7' },
  ]);
});
