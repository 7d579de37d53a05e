import type { ChangeEvent } from '@bakehouse/contract/events';
import { DAY_MS } from '../clock.ts';
import type { Services } from '../context.ts';

/**
 * Covers late commits (a change may be committed and announced after a younger one), clock differences, and
 * the time between a page's first reads and its stream. Receiving a change twice only costs one more read.
 */
const OVERLAP_MS = 10_000;
/** A client that missed more reloads everything: that is cheaper, and a stream's buffer is limited. */
const MISSED_MAX = 1_000;
/** How long changes are kept. */
export const KEPT_MS = DAY_MS + 2 * OVERLAP_MS;

/**
 * Returns the user's changes since the event with this id, oldest first; null if the id is unknown or older
 * than a day, or if there are too many.
 */
export async function missedChanges(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  userId: string,
  lastEventId: string,
): Promise<{ event: ChangeEvent; at: Date }[] | null> {
  const since = /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : Number.NaN;
  const age = clock.now().getTime() - since;
  if (!(age <= DAY_MS && age >= -OVERLAP_MS)) return null;
  const rows = await db
    .selectFrom('recent_changes')
    .select(['topic', 'thing_id', 'at'])
    .where('user_id', 'in', [userId, ''])
    .where('at', '>=', new Date(since - OVERLAP_MS))
    .orderBy('at')
    .limit(MISSED_MAX + 1)
    .execute();
  if (rows.length > MISSED_MAX) return null;
  return rows.map(({ topic, thing_id, at }) => ({
    event: { topic: topic as ChangeEvent['topic'], id: thing_id },
    at,
  }));
}
