import { isCreditExhausted } from '../ledger/holds/holds.ts';
import type { UsageLeader } from './usage-leader.ts';

/** Closes idle usage windows of this process, which releases their unused holds. */
export type IdleCredit = Pick<UsageLeader, 'closeIdle'>;

/**
 * Runs work that holds or sends a user's credits. If the user's credit or the key's budget is too low, closes
 * the user's idle usage windows in this process. If it closed any, runs the work once more. Work that throws
 * must have changed nothing.
 */
export async function withIdleCredit<Answer>(
  usage: IdleCredit,
  userId: string,
  work: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (!isCreditExhausted(error) || (await usage.closeIdle(userId)) === 0) throw error;
    return work();
  }
}
