import type { AuditEntry, listAudit as contract } from '@bakehouse/contract/audit';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../platform/context.ts';
import { findUserId } from '../accounts/find-user-id.ts';
import { listAuditEntries } from '../accounts/steps.ts';
import { listSends } from '../credits/list-sends.ts';
import { findSubjects } from './find-subjects.ts';

/** The cursor of the first page: above any row's number, and within a cursor's 18 digits. */
const FIRST_PAGE = 10n ** 18n - 1n;
const SENDS_NOUN = 'credits';

/**
 * Lists changes, newest first; the caller is an operator. Sends of credits are read from the append-only
 * ledger instead of being recorded twice. The cursor contains a position in each of the two.
 */
export async function listAudit(
  ctx: Context,
  { query }: InputOf<typeof contract>,
): Promise<ResponseOf<typeof contract>> {
  const { user, noun, limit } = query;
  // Only the id of a deleted account remains.
  const userId = user === undefined ? undefined : ((await findUserId(ctx.db, user)) ?? user);
  const [beforeEntry = FIRST_PAGE, beforeSend = FIRST_PAGE] = query.cursor?.split('-').map(BigInt) ?? [];
  const page = { userId, limit: limit + 1 };
  const [entries, sends] = await Promise.all([
    listAuditEntries(ctx.db, { ...page, noun, before: beforeEntry }),
    noun === undefined || noun === SENDS_NOUN ? listSends(ctx.db, { ...page, before: beforeSend }) : [],
  ]);
  const all = mergeByTime(
    entries.map((entry) => ({ ...entry, source: 'entry' as const, place: entry.id })),
    sends.map((sent) => ({ ...sent, action: 'credits.sent', source: 'send' as const, place: sent.seq })),
  );
  const shown = all.slice(0, limit);
  const subjects = await findSubjects(
    ctx.db,
    shown.map(({ detail }) => detail),
  );
  const placeOf = (source: 'entry' | 'send', before: bigint) =>
    shown.findLast((one) => one.source === source)?.place ?? before;
  return {
    entries: shown.map(
      ({ source, place, at, userId: user_id, username, action, detail }): AuditEntry => ({
        entry_id: `${source}-${place}`,
        at: at.toISOString(),
        ...{ user_id, username, action, detail },
        names: Object.fromEntries([...subjects].filter(([id]) => Object.values(detail).includes(id))),
      }),
    ),
    next_cursor:
      all.length > limit ? `${placeOf('entry', beforeEntry)}-${placeOf('send', beforeSend)}` : null,
  };
}

/**
 * Merges the lists, newest first, preserving the order of each. A transaction may start before another and
 * still get the higher number; because the cursor is a number, sorting by time would drop one of the two from
 * every page.
 */
function mergeByTime<A extends { at: Date }, B extends { at: Date }>(
  ones: readonly A[],
  others: readonly B[],
): (A | B)[] {
  const merged: (A | B)[] = [];
  let [nextOne, nextOther] = [0, 0];
  while (merged.length < ones.length + others.length) {
    const [one, other] = [ones[nextOne], others[nextOther]];
    if (one !== undefined && (other === undefined || one.at >= other.at)) {
      merged.push(one);
      nextOne += 1;
    } else if (other !== undefined) {
      merged.push(other);
      nextOther += 1;
    }
  }
  return merged;
}
