import type { UserTotals } from '../queries.ts';

/** What of a balance can go to other users: bought credits that no running work needs, less what is owed, which is collected first. */
export function sendableMicro({ balance, held, given, owed }: UserTotals): bigint {
  const sendable = balance - (held > given ? held : given) - owed;
  return sendable > 0n ? sendable : 0n;
}
