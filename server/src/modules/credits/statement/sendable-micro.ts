import type { UserTotals } from '../queries.ts';

/** How much of a balance can be sent to others: bought credits that no running work needs, less debts. */
export function sendableMicro({ balance, held, given, owed }: UserTotals): bigint {
  const sendable = balance - (held > given ? held : given) - owed;
  return sendable > 0n ? sendable : 0n;
}
