import type { Services } from '../../platform/context.ts';
import { accountOwner } from './accounts.ts';
import { endHold, type Settlement } from './ledger.ts';

/**
 * `settle` as a transaction of its own: one round trip, and the change is announced after the
 * commit. An amount of 0 releases the hold. Throws what `settle` throws.
 */
export async function settleNow(
  services: Pick<Services, 'db' | 'events'>,
  input: Settlement,
): Promise<{ transferId: string | null }> {
  const { transferId, changedAccountId } = await endHold(services.db, input);
  const userId = changedAccountId && accountOwner(changedAccountId);
  if (userId) services.events.announce(userId, { topic: 'balance', id: userId });
  return { transferId };
}
