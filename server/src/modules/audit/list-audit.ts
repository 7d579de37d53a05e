import type { AuditEntry, listAudit as listAuditEndpoint } from '@bakehouse/contract/audit';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../platform/context.ts';
import type { Database } from '../../platform/db/database.ts';
import { isUuid } from '../../platform/is-uuid.ts';
import { findNames, listAuditEntries } from '../accounts/steps.ts';
import { findUserId } from '../accounts/users.ts';
import { findTitles } from '../assets/assets.ts';
import { listSends } from '../billing/transfers.ts';

/** The fields of an entry's detail that contain ids, by the kind of object. */
const fields = {
  users: ['recipient_id', 'payer_id', 'inviter_id', 'to_user_id'],
  keys: ['key_id'],
  assets: ['asset_id', 'model_id'],
};

/** The cursor of the first page: above any row's number, and short enough for a cursor's 18 digits. */
const FIRST_PAGE = 10n ** 18n - 1n;

const SENDS_NOUN = 'credits';

/**
 * Lists changes, newest first; the caller is an operator. Transfers of credits are read from the ledger, so
 * that the audit log need not record them again. The cursor contains a position in the log and a position in
 * the ledger.
 */
export async function listAudit(
  ctx: Context,
  { query }: InputOf<typeof listAuditEndpoint>,
): Promise<ResponseOf<typeof listAuditEndpoint>> {
  const { user, noun, limit } = query;
  // A deleted account can only be found by its id.
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
 * Merges the two lists, newest first, without changing the order within each. Entries are paged by number,
 * and a transaction that starts earlier may get a higher number. Sorting by time could move such an entry
 * across the page boundary, where no page would contain it.
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

/** Returns the current names of the ids in these details, without deleted ones. */
async function findSubjects(db: Database, details: Record<string, string>[]): Promise<Map<string, string>> {
  const idsIn = (names: string[]) => [
    ...new Set(details.flatMap((detail) => names.flatMap((name) => detail[name] ?? []))),
  ];
  // In entries about restricted models, these fields contain the model's name, so use only UUIDs.
  const uuidsIn = (names: string[]) => idsIn(names).filter(isUuid);
  const [named, titled] = await Promise.all([
    findNames(db, { userIds: idsIn(fields.users), keyIds: uuidsIn(fields.keys) }),
    findTitles(db, uuidsIn(fields.assets)),
  ]);
  return new Map([...named, ...titled]);
}
