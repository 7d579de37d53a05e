import type { Transaction } from '../../../platform/db/database.ts';
import { insertKnownAddress, lockAddress } from '../queries.ts';
import { mailboxHash } from './mailbox-hash.ts';

/**
 * Step: remembers that the user's mailbox has had an account here. False where it was known already; of several accounts
 * with one mailbox that are made at the same time one alone is the first.
 */
export async function rememberAddress(
  tx: Transaction,
  { userId, serverSecret }: { userId: string; serverSecret: string },
): Promise<boolean> {
  const user = await lockAddress(tx, userId);
  if (!user) throw new Error(`There is no user ${userId}`);
  return insertKnownAddress(tx, mailboxHash(user.email, serverSecret));
}
