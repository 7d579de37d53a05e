import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { testDatabase } from '../../../testing/test-database.ts';
import { idempotent, preparedIdempotent } from './idempotent.ts';

const { db } = await testDatabase();

type Overrides = { userId?: string; key?: string | null; operation?: string; input?: unknown };

function call(work: () => Promise<{ n: number }>, overrides: Overrides = {}) {
  const identity = {
    userId: 'ada',
    key: 'k',
    operation: 'spend',
    input: { amount: '5', to: 'bob' },
    ...overrides,
  };
  return db.transaction().execute((tx) => idempotent(tx, identity, work));
}

function counter() {
  let n = 0;
  return async () => ({ n: ++n });
}

describe('idempotent', () => {
  test('returns the first answer to a repeated call, even if its fields have another order', async () => {
    const work = counter();
    expect(await call(work, { key: 'repeat' })).toEqual({ n: 1 });
    expect(await call(work, { key: 'repeat', input: { to: 'bob', amount: '5' } })).toEqual({ n: 1 });
    expect(await work()).toEqual({ n: 2 });
  });

  test('rejects a key that was used with another input or operation', async () => {
    await call(counter(), { key: 'conflict' });
    const conflict = { code: 'idempotency_conflict', status: 409 };
    await expect(
      call(counter(), { key: 'conflict', input: { amount: '6', to: 'bob' } }),
    ).rejects.toMatchObject(conflict);
    await expect(call(counter(), { key: 'conflict', operation: 'refund' })).rejects.toMatchObject(conflict);
  });

  test('separates the keys of users, and runs every call without a key', async () => {
    const work = counter();
    await call(work, { key: 'shared' });
    expect(await call(work, { key: 'shared', userId: 'bob' })).toEqual({ n: 2 });
    expect(await call(work, { key: null })).toEqual({ n: 3 });
    expect(await call(work, { key: null })).toEqual({ n: 4 });
  });

  test('makes concurrent duplicates wait for the first and return its answer', async () => {
    const work = counter();
    const answers = await Promise.all(Array.from({ length: 8 }, () => call(work, { key: 'parallel' })));
    expect(answers).toEqual(Array.from({ length: 8 }, () => ({ n: 1 })));
  });

  test('releases the key if the work fails, so that it can be retried', async () => {
    const fail = async () => {
      throw new Error('no');
    };
    await expect(call(fail, { key: 'failed' })).rejects.toThrow('no');
    expect(await call(counter(), { key: 'failed' })).toEqual({ n: 1 });
  });

  test('names the header if the key is too long', async () => {
    await expect(call(counter(), { key: 'x'.repeat(256) })).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'Idempotency-Key',
    });
  });
});

describe('preparation', () => {
  const identity = (key: string) => ({ userId: 'ada', key, operation: 'spend', input: {} });
  function prepared(key: string) {
    let times = 0;
    const ask = () =>
      preparedIdempotent(
        db,
        identity(key),
        async () => ++times,
        async (_tx, n) => ({ n }),
      );
    return { ask, times: () => times };
  }

  test('runs for the first call only', async () => {
    const { ask, times } = prepared('prepared');
    expect(await ask()).toEqual({ n: 1 });
    expect(await ask()).toEqual({ n: 1 });
    expect(times()).toBe(1);
  });

  test('runs again if the stored answer is deleted in the meantime', async () => {
    const { ask, times } = prepared('forgotten');
    await ask();
    const forgetting = await db.startTransaction().execute();
    await forgetting.deleteFrom('idempotency_keys').where('key', '=', 'forgotten').execute();
    const again = ask();
    const waiting = sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    await expect.poll(async () => (await waiting.execute(db)).rows.length).toBe(1);
    expect(times()).toBe(1);
    await forgetting.commit().execute();
    expect(await again).toEqual({ n: 2 });
  });
});
