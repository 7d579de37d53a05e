import { isOutOfCredit } from '../ledger/holds/holds.ts';
import type { UsageLeader } from './usage-leader.ts';

/** The usage windows of this process, which can release unused holds. */
export type IdleCredit = Pick<UsageLeader, 'closeIdle'>;

/**
 * Runs work that holds or sends a user's credits. If the credit or the key's budget does not cover it, closes
 * the user's idle usage windows in this process and runs it once more, if there were any. A rejected attempt
 * must have no effect.
 */
export async function withIdleCredit<Answer>(
  usage: IdleCredit,
  userId: string,
  work: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (!isOutOfCredit(error) || (await usage.closeIdle(userId)) === 0) throw error;
    return work();
  }
}
