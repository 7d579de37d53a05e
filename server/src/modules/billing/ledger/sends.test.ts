import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import pino from 'pino';
import { beforeAll, describe, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../testing/test-database.ts';
import { insertTestUser } from '../testing/test-user.ts';
import { verifyLedger } from '../verification/verify-ledger.ts';
import { userAccount } from './accounts.ts';
import { availableMicro } from './available-micro.ts';
import { batchSends, type Send, type SendInBatch, sendAll } from './sends.ts';

const log = pino({ level: 'silent' });
let database: TestDatabase;
let send: SendInBatch;
beforeAll(async () => {
  database = await testDatabase();
  send = batchSends({ ...database, log });
});

const user = (boughtMicro = 0n) => insertTestUser(database.db, { boughtMicro });
const available = (userId: string) => availableMicro(database.db, userId);
const sending = (
  senderId: string,
  recipient: string,
  amountMicro: bigint,
  key: string | null = null,
): Send => ({
  senderId,
  recipient,
  amountMicro,
  idempotencyKey: key,
  keyId: null,
});

describe('one call', () => {
  test('never scans a whole table, even if its query plan is from when the table was small', async () => {
    const [ada, bob] = [await user(10n), await user()];
    const scans = await database.db.transaction().execute(async (tx) => {
      await sql`select * from ledger_send(
        ${[ada, bob]}, ${[bob, ada]}, ${[2n, 1n]}, ${[randomUUID(), randomUUID()]}, true)`.execute(tx);
      return sql<{ relname: string }>`
        select relname from pg_stat_xact_user_tables where seq_scan > 0`.execute(tx);
    });
    expect(scans.rows).toEqual([]);
    expect(await available(bob)).toBe(1n);
  });

  test('returns a result per transfer; rejected transfers do not affect the others', async () => {
    const [ada, bob, eve] = [await user(10n), await user(), await user(5n)];
    const key = randomUUID();
    const answers = await sendAll(
      database,
      [
        sending(ada, bob, 4n, key),
        sending(ada, bob, 7n),
        sending(ada, 'nobody-at-all', 1n),
        sending(ada, 'nobody-at-all', 7n),
        sending(ada, ada, 1n),
        sending(ada, bob, 4n, key),
        sending(ada, bob, 5n, key),
        sending(eve, bob, 5n, key),
        // Bob can send this only because the transfers above have given him credits.
        sending(bob, ada, 9n),
        sending(bob, ada, 1n),
      ],
      { wait: false },
    );
    expect(answers.map(({ outcome }) => outcome)).toEqual([
      'ok',
      'insufficient_funds',
      'unknown_recipient',
      'insufficient_funds',
      'own_account',
      'replayed',
      'idempotency_conflict',
      'ok',
      'ok',
      'insufficient_funds',
    ]);
    expect(answers[5]?.transfer_id).toBe(answers[0]?.transfer_id);
    expect([await available(ada), await available(bob), await available(eve)]).toEqual([15n, 0n, 0n]);
  });

  test('recognises keys of earlier calls', async () => {
    const [ada, bob] = [await user(10n), await user()];
    const key = randomUUID();
    const first = await send(sending(ada, bob, 10n, key));
    const again = await sendAll(database, [sending(ada, bob, 10n, key), sending(ada, bob, 9n, key)], {
      wait: false,
    });
    expect(again.map(({ outcome }) => outcome)).toEqual(['replayed', 'idempotency_conflict']);
    expect(again[0]?.transfer_id).toBe(first.transfer_id);
  });
});

test('makes 300 concurrent transfers between few users without losing or creating credits', async () => {
  const users = await Promise.all(Array.from({ length: 5 }, () => user(50n)));
  const pick = (i: number) => users[i % users.length] ?? '';
  const answers = await Promise.all(
    Array.from({ length: 300 }, (_, i) => send(sending(pick(i), pick(i % 2), 7n, `all-${i}`))),
  );
  const sum = await Promise.all(users.map(available));
  expect(sum.reduce((a, b) => a + b, 0n)).toBe(250n);
  expect(new Set(answers.map(({ outcome }) => outcome))).toEqual(
    new Set(['ok', 'insufficient_funds', 'own_account']),
  );
  expect((await verifyLedger(database.db)).checks.filter((check) => !check.ok)).toEqual([]);
});

test('30 concurrent calls with one key move the credits once', async () => {
  const [ada, bob] = [await user(100n), await user()];
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => send(sending(ada, bob, 7n, 'parallel'))),
  );
  expect(new Set(answers.map((answer) => answer.transfer_id)).size).toBe(1);
  expect(await available(bob)).toBe(7n);
});

test('a transfer that waits for a locked account does not block others', async () => {
  const [ada, bob, dan, eve] = [await user(10n), await user(10n), await user(), await user()];
  const { held } = await database.db.transaction().execute(async (tx) => {
    await sql`select from ledger_accounts where id = ${userAccount(ada)} for no key update`.execute(tx);
    const waits = send(sending(ada, eve, 1n));
    const others = [send(sending(bob, dan, 2n)), send(sending(bob, dan, 3n))];
    expect((await Promise.all(others)).map(({ outcome }) => outcome)).toEqual(['ok', 'ok']);
    expect(await available(dan)).toBe(5n);
    return { held: waits };
  });
  expect((await held).outcome).toBe('ok');
  expect(await available(eve)).toBe(1n);
});

test('a transfer that PostgreSQL rejects does not affect others in its batch', async () => {
  const { db, pool } = await testDatabase();
  const [ada, bob, full] = await Promise.all([1, 2, 3].map(() => insertTestUser(db, { boughtMicro: 10n })));
  const filled = sql`update ledger_accounts set credits_posted = ${2n ** 63n - 1n}, debits_posted = ${2n ** 62n}
    where id = ${userAccount(full ?? '')}`;
  await filled.execute(db);
  const sendHere = batchSends({ db, pool, log });
  const first = sendHere(sending(ada ?? '', bob ?? '', 1n));
  const together = await Promise.allSettled([
    sendHere(sending(ada ?? '', bob ?? '', 2n)),
    sendHere(sending(ada ?? '', full ?? '', 1n)),
    sendHere(sending(bob ?? '', ada ?? '', 3n)),
  ]);
  expect((await first).outcome).toBe('ok');
  expect(together.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect([await availableMicro(db, ada ?? ''), await availableMicro(db, bob ?? '')]).toEqual([10n, 10n]);
});

test('does not retry after a broken connection, because the commit may have succeeded', async () => {
  let calls = 0;
  const query = async () => {
    calls += 1;
    throw new Error('Connection terminated unexpectedly');
  };
  const broken = { ...database, pool: { query } as unknown as TestDatabase['pool'], log };
  const sendThere = batchSends(broken);
  const answers = await Promise.allSettled([1n, 2n, 3n].map((n) => sendThere(sending('ada', 'bob', n))));
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  // One call for the first transfer, and one for the two that arrived in the meantime.
  expect(calls).toBe(2);
});
