import { randomUUID } from 'node:crypto';
import type { Database } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { PAYMENTS_ACCOUNT, userAccount } from '../ledger/accounts.ts';
import { openUserAccount } from '../ledger/open-user-account.ts';
import { transfer } from '../ledger/transfer.ts';

/** For tests: creates a user with given and bought credits. */
export async function insertTestUser(
  db: Database,
  {
    grantMicro = 0n,
    boughtMicro = 0n,
    username = `u${randomUUID().slice(0, 8)}`,
  }: { grantMicro?: bigint; boughtMicro?: bigint; username?: string } = {},
): Promise<string> {
  const id = randomUUID();
  await db
    .insertInto('users')
    .values({ id, name: username, username, email: `${username}@example.com` })
    .execute();
  await inTransaction(db, (tx) => openUserAccount(tx, { userId: id, grantMicro }));
  if (boughtMicro > 0n) await buyForTest(db, id, boughtMicro);
  return id;
}

/** For tests: gives the user credits that can also be sent. */
export async function buyForTest(db: Database, userId: string, amountMicro: bigint): Promise<void> {
  await inTransaction(db, (tx) =>
    transfer(tx, {
      debitAccountId: PAYMENTS_ACCOUNT,
      creditAccountId: userAccount(userId),
      amountMicro,
      kind: 'purchase',
      description: 'Purchase',
      idempotencyKey: null,
    }),
  );
}

/** For tests: creates an API key with a budget over all time (null: none). Returns its id. */
export async function insertTestKey(
  db: Database,
  { userId, budgetMicro }: { userId: string; budgetMicro: bigint | null },
): Promise<string> {
  const { id } = await db
    .insertInto('api_keys')
    .values({
      user_id: userId,
      name: 'program',
      for_web_app: false,
      sha256: Buffer.from(randomUUID()),
      budget_micro: budgetMicro,
      budget_period: budgetMicro === null ? null : 'total',
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}
