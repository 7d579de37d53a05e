import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { plansOf, recordingDatabase } from '../../../testing/recording-database.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { revenueAccount, userAccount } from '../ledger/accounts.ts';
import { transfer } from '../ledger/transfer.ts';
import { insertTestUser } from '../testing/test-user.ts';
import { sealTransfers } from '../verification/chain.ts';
import { warnOfLowBalanceJob } from './warn-of-low-balance.ts';

const { url } = await testDatabase();
const recording = recordingDatabase(url);
const { db } = recording;

const warn = (lowBalanceBgl = '20') =>
  warnOfLowBalanceJob.run({ db, config: { lowBalanceBgl } } as Services, {}, new AbortController().signal);
/** Returns the users who were notified since the last call. */
async function warned(): Promise<string[]> {
  const rows = await db
    .deleteFrom('notifications')
    .where('kind', '=', 'balance_low')
    .returning('user_id')
    .execute();
  return rows.map(({ user_id }) => user_id);
}
const spend = (tx: Transaction, userId: string) =>
  transfer(tx, {
    debitAccountId: userAccount(userId),
    creditAccountId: revenueAccount('llm_inference'),
    amountMicro: 90_000_000n,
    kind: 'charge',
    description: 'Tokens',
    idempotencyKey: randomUUID(),
  });

test('notices a transfer that commits after transfers with higher numbers', async () => {
  const [ada, bob, eve] = (await Promise.all(
    [1, 2, 3].map(() => insertTestUser(db, { grantMicro: 100_000_000n })),
  )) as [string, string, string];
  await warn();
  await sealTransfers(db);
  await warn();
  expect(await warned()).toEqual([]);
  await db.transaction().execute(async (tx) => {
    await spend(tx, ada);
    await db.transaction().execute((other) => spend(other, bob));
    await warn();
    expect(await warned()).toEqual([bob]);
  });
  await db.transaction().execute((tx) => spend(tx, eve));
  await warn();
  expect((await warned()).toSorted()).toEqual([ada, eve].toSorted());
  await sealTransfers(db);
  await warn();
  expect(await warned()).toEqual([]);
});

test('checks all balances against a changed limit', async () => {
  const ada = await insertTestUser(db, { grantMicro: 100_000_000n });
  await warn();
  await sealTransfers(db);
  await warn();
  expect(await warned()).toEqual([]);
  await warn('101');
  expect(await warned()).toEqual([ada]);
});

test('reads only balances that have changed', async () => {
  await sql`
    insert into users (id, name, username, email)
    select 'many-' || n, n, 'many-' || n, n || '@example.org' from generate_series(1, 5000) n`.execute(db);
  await sql`
    insert into ledger_accounts (id, kind, owner_user_id, credits_posted, debits_posted, debits_pending, given)
    select 'user:' || id, 'user', id, 100000000, 0, 0, 0 from users where id like 'many-%'`.execute(db);
  await warn();
  await warn('20');
  await sealTransfers(db);
  await sql`analyze`.execute(db);
  await db.transaction().execute((tx) => spend(tx, 'many-7'));
  const plans = await plansOf(recording, () => warn('20'));
  expect(await warned()).toEqual(['many-7']);
  const ofBalances = plans.filter((plan) => plan.includes('ledger_accounts'));
  expect(ofBalances.length).toBeGreaterThan(1);
  for (const plan of ofBalances)
    expect(plan).not.toMatch(/Seq Scan on (ledger_accounts|low_balance_watch|users)/);
});
