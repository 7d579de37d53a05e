import { randomUUID } from 'node:crypto';
import type { Database } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { PAYMENTS_ACCOUNT, userAccount } from './ledger/accounts.ts';
import { openUserAccount } from './ledger/open-user-account.ts';
import { transfer } from './ledger/transfer.ts';

/** For tests: a new user who was given this much, and has bought this much. */
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

/** For tests: credits that the user may also send. */
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
