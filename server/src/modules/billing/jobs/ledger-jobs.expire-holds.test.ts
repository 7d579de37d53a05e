import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { untilWaiting } from '../../../testing/test-database.ts';
import { testServer } from '../../../testing/test-server.ts';
import { extendHold, hold } from '../ledger/holds/holds.ts';
import { getUserTotals } from '../queries.ts';
import { insertTestKey, insertTestUser } from '../testing/test-user.ts';
import { expireHoldsJob } from './ledger-jobs.ts';

const clock = fakeClock();
const { services } = await testServer({ clock });
const { db } = services;
const inMinutes = (minutes: number) => new Date(clock.now().getTime() + minutes * 60_000);
const runJob = () => expireHoldsJob.run(services, {}, new AbortController().signal);

test('releases all expired holds, even if they need several transactions', async () => {
  const [ada, bob] = [
    await insertTestUser(db, { boughtMicro: 1000n }),
    await insertTestUser(db, { boughtMicro: 1000n }),
  ];
  const holdFor = (userId: string, key: string) =>
    db.transaction().execute((tx) =>
      hold(tx, {
        userId,
        amountMicro: 1n,
        kind: 'llm_inference',
        description: 'Chat',
        expiresAt: inMinutes(10),
        idempotencyKey: key,
      }),
    );
  for (let i = 0; i < 250; i += 1) await holdFor(i % 2 ? ada : bob, `lost-${i}`);
  const { holdId } = await holdFor(ada, 'alive');

  clock.advance({ minutes: 9 });
  await db.transaction().execute((tx) => extendHold(tx, { holdId, expiresAt: inMinutes(10) }));
  await runJob();
  expect((await getUserTotals(db, bob)).held).toBe(125n);

  clock.advance({ minutes: 1 });
  await runJob();
  expect(await getUserTotals(db, ada)).toEqual({ balance: 1000n, held: 1n, given: 0n, owed: 0n });
  expect(await getUserTotals(db, bob)).toEqual({ balance: 1000n, held: 0n, given: 0n, owed: 0n });
});

test('locks keys with budgets in the order of their ids, like settlements do', async () => {
  const userId = await insertTestUser(db, { boughtMicro: 1000n });
  const keys = [
    await insertTestKey(db, { userId, budgetMicro: null }),
    await insertTestKey(db, { userId, budgetMicro: null }),
  ].toSorted();
  const [first = '', second = ''] = keys;
  for (const keyId of [second, first]) {
    await db.transaction().execute((tx) =>
      hold(tx, {
        userId,
        amountMicro: 1n,
        kind: 'llm_inference',
        description: 'Chat',
        references: { key_id: keyId },
        expiresAt: inMinutes(1),
        idempotencyKey: `of-key-${keyId}`,
      }),
    );
  }
  clock.advance({ minutes: 2 });
  const { expiring } = await db.transaction().execute(async (tx) => {
    await sql`select from api_keys where id = ${first} for update`.execute(tx);
    const begun = runJob();
    await untilWaiting(db);
    await sql`select from api_keys where id = ${second} for update nowait`.execute(tx);
    return { expiring: begun };
  });
  await expiring;
  expect((await getUserTotals(db, userId)).held).toBe(0n);
});
