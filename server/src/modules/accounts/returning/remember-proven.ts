import type { Config } from '../../../config.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { recogniseMailbox } from './recognise-mailbox.ts';
import { setReturning } from './returning-queries.ts';

/**
 * Step: remembers the mailbox of a user whose address has just been proven, and marks the account as returning where another
 * account proved it before. Where no mail is sent, it was remembered at the sign-up.
 */
export async function rememberProven(
  tx: Transaction,
  { userId, config }: { userId: string; config: Config },
): Promise<void> {
  if (config.mail && (await recogniseMailbox(tx, { userId, config }))) await setReturning(tx, userId);
}
