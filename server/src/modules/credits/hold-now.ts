import type { Services } from '../../platform/context.ts';
import { type Hold, placeHold } from './ledger.ts';
import { toBudgetExceeded } from './within-budget.ts';

/**
 * `hold` as a transaction of its own: one round trip, and the change is announced after the commit.
 * For holds that come by the hundred, e.g. one per chat answer. Throws what `hold` throws.
 */
export async function holdNow(
  services: Pick<Services, 'db' | 'pool' | 'events'>,
  input: Hold,
): Promise<{ holdId: string }> {
  const { holdId, changed } = await placeHold(services, input).catch((error: unknown) => {
    throw toBudgetExceeded(error) ?? error;
  });
  if (changed) services.events.announce(input.userId, { topic: 'balance', id: input.userId });
  return { holdId };
}
