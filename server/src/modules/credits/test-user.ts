import { randomUUID } from 'node:crypto';
import type { Database } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { openUserAccount } from './ledger.ts';

/** For tests: a new user with an account that was granted this much. */
export async function insertTestUser(
  db: Database,
  {
    grantMicro = 0n,
    username = `u${randomUUID().slice(0, 8)}`,
  }: { grantMicro?: bigint; username?: string } = {},
): Promise<string> {
  const id = randomUUID();
  await db
    .insertInto('users')
    .values({ id, name: username, username, email: `${username}@example.com` })
    .execute();
  await inTransaction(db, (tx) => openUserAccount(tx, { userId: id, grantMicro }));
  return id;
}
