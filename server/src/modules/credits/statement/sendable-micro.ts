import type { UserTotals } from '../queries.ts';

/** Returns the sendable part of a balance: bought credits that no hold needs, minus debts. */
export function sendableMicro({ balance, held, given, owed }: UserTotals): bigint {
  const sendable = balance - (held > given ? held : given) - owed;
  return sendable > 0n ? sendable : 0n;
}
