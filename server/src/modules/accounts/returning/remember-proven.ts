import type { Config } from '../../../config.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { recogniseMailbox } from './recognise-mailbox.ts';
import { setReturning } from './returning-queries.ts';

/**
 * Step: remembers the mailbox of a user whose address was just proven, and marks the account as returning if
 * another account proved it before. Without mail, the sign-up already remembered it.
 */
export async function rememberProven(
  tx: Transaction,
  { userId, config }: { userId: string; config: Config },
): Promise<void> {
  if (config.mail && (await recogniseMailbox(tx, { userId, config }))) await setReturning(tx, userId);
}
