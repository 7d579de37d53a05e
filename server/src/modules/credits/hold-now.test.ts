import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { publishChange } from '../../platform/events/publish-change.ts';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { holdNow } from './hold-now.ts';
import type { Hold } from './ledger.ts';
import { getUserTotals } from './queries.ts';
import { insertTestUser } from './test-user.ts';

// What is announced inside a transaction makes the transactions commit one after the other.
vi.mock('../../platform/events/publish-change.ts', { spy: true });

function chatHold(userId: string): Hold {
  return {
    userId,
    amountMicro: 7n,
    kind: 'llm_inference',
    description: 'Chat',
    expiresAt: new Date('2100-01-01'),
    idempotencyKey: randomUUID(),
  };
}

test('a hold of its own is one transaction, announced once and after it', async () => {
  const { db, pool } = await testDatabase();
  const ada = await insertTestUser(db, { boughtMicro: 10n });
  vi.mocked(publishChange).mockClear();
  const announce = vi.fn();
  const services = {
    db,
    pool,
    events: { subscribe: () => () => undefined, onReconnect: () => () => undefined, announce },
  };
  const hold = chatHold(ada);

  const first = await holdNow(services, hold);
  expect(await holdNow(services, hold)).toEqual(first);
  await expect(holdNow(services, { ...hold, idempotencyKey: randomUUID() })).rejects.toMatchObject({
    code: 'insufficient_funds',
  });

  expect(await getUserTotals(db, ada)).toEqual({ balance: 10n, held: 7n, given: 0n });
  expect(announce.mock.calls).toEqual([[ada, { topic: 'balance', id: ada }]]);
  expect(vi.mocked(publishChange)).not.toHaveBeenCalled();
});

test('after it the connection waits for the disk again', async () => {
  const { db, url } = await testDatabase();
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  onFileEnd(() => pool.end());
  const ada = await insertTestUser(db, { boughtMicro: 10n });
  await pool.query('set synchronous_commit = on');

  await holdNow(
    {
      db,
      pool,
      events: {
        subscribe: () => () => undefined,
        onReconnect: () => () => undefined,
        announce: () => undefined,
      },
    },
    chatHold(ada),
  );

  const { rows } = await pool.query('show synchronous_commit');
  expect(rows).toEqual([{ synchronous_commit: 'on' }]);
});
