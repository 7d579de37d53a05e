import type { Config } from '../../../config.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { lockAddress } from '../queries.ts';
import { serverSecret } from '../sign-in/server-secret.ts';
import { mailboxHash } from './mailbox-hash.ts';
import { insertKnownAddress, isKnownAddress } from './returning-queries.ts';

/**
 * Step: returns true if the user's mailbox had an account before, and remembers the mailbox. It does not
 * remember an address that may belong to a stranger, because it could be verified by mail but is not. Of
 * concurrent accounts with one mailbox, only one counts as the first.
 */
export async function recogniseMailbox(
  tx: Transaction,
  { userId, config }: { userId: string; config: Config },
): Promise<boolean> {
  const user = await lockAddress(tx, userId);
  if (!user) throw new Error(`User ${userId} does not exist`);
  const hash = mailboxHash(user.email, serverSecret(config));
  if (config.mail && !user.email_verified) return isKnownAddress(tx, hash);
  return !(await insertKnownAddress(tx, hash));
}
