import { isOutOfCredit } from '../ledger/holds/is-out-of-credit.ts';
import type { UsageLeader } from './usage-leader.ts';

/** The usage windows of this process, which give back what they hold and do not use. */
export type IdleCredit = Pick<UsageLeader, 'closeIdle'>;

/**
 * Runs work that holds or sends a user's credits. Where their credit or the budget of the key does not cover it, this
 * process closes their idle usage windows, and if there were any, runs it once more: a refusal must have left nothing.
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
