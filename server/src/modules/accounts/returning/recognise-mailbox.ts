import type { Config } from '../../../config.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { lockAddress } from '../queries.ts';
import { serverSecret } from '../sign-in/server-secret.ts';
import { mailboxHash } from './mailbox-hash.ts';
import { insertKnownAddress, isKnownAddress } from './returning-queries.ts';

/**
 * Step: whether the user's mailbox has had an account here. From now on it has, unless the address may be a stranger's:
 * where it could be proven by mail and is not. Of several accounts with one mailbox that are remembered at the same time
 * one alone is the first.
 */
export async function recogniseMailbox(
  tx: Transaction,
  { userId, config }: { userId: string; config: Config },
): Promise<boolean> {
  const user = await lockAddress(tx, userId);
  if (!user) throw new Error(`There is no user ${userId}`);
  const hash = mailboxHash(user.email, serverSecret(config));
  if (config.mail && !user.email_verified) return isKnownAddress(tx, hash);
  return !(await insertKnownAddress(tx, hash));
}
