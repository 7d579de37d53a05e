import { sql } from 'kysely';
import type { Services } from '../../../platform/context.ts';
import { type Database, toJson } from '../../../platform/db/database.ts';
import { inTransaction, runPrepared } from '../../../platform/db/in-transaction.ts';
import { oneOf } from '../ledger/ledger-answers.ts';

/* The SQL of usage windows; the writes are functions in server/migrations/functions (usage_*). */

type Prepared = Pick<Services, 'db' | 'pool'>;

const LEASE_MS = 30_000;
const RENEW_MS = 8_000;
/** A lease is valid for at least this long after a window was opened. */
const LEASE_LEFT_MS = 10_000;

export type NewWindow = {
  id: string;
  leaderId: string;
  userId: string;
  keyId: string | null;
  source: string;
  at: Date;
  debitAccountId: string;
  creditAccountId: string;
  amountMicro: bigint;
  description: string;
  references: Record<string, string>;
  expiresAt: Date;
};

export type HoldOutcome = { outcome: string; available: bigint | null };

/**
 * Opens a window with a new hold. Does not wait for the disk. If the database crashes immediately afterwards,
 * the window may be lost, and its uses are not charged.
 */
export async function openWindowRow(
  services: Prepared,
  w: NewWindow,
): Promise<HoldOutcome & { hold_id: string }> {
  const rows = await runPrepared(
    services,
    'usage_open',
    sql<HoldOutcome & { hold_id: string }>`
      select outcome, hold_id, available, set_config('synchronous_commit', 'off', true) from usage_open(
        ${w.id}, ${w.leaderId}, ${w.userId}, ${w.keyId}, ${w.source}, ${w.at}, ${w.debitAccountId}, ${w.creditAccountId},
        ${w.amountMicro}, ${w.description}, ${toJson(w.references)}, ${w.expiresAt}, ${LEASE_MS}, ${LEASE_LEFT_MS})`,
  );
  return oneOf(rows);
}

/** Like `growHold`, but in its own transaction and without notification. */
export async function growHoldNow(
  services: Prepared,
  { holdId, byMicro }: { holdId: string; byMicro: bigint },
): Promise<HoldOutcome & { amount: bigint | null }> {
  const rows = await runPrepared(
    services,
    'usage_grow',
    sql<HoldOutcome & { amount: bigint | null }>`
      select outcome, amount, available, set_config('synchronous_commit', 'off', true)
      from ledger_grow_hold(${holdId}, ${byMicro}, null)`,
  );
  return oneOf(rows);
}

export type UsageEvent = {
  /** Its number in the window, starting at 1. */
  n: number;
  id: string;
  at: Date;
  amountMicro: bigint;
  /** Quantities by name, e.g. tokens. */
  quantities: Record<string, number>;
};

/**
 * The number of events that the database has written for a window. Null if the window is closed, or if the
 * database has lost earlier events; `missing` is then the number of the first lost one.
 */
export type WrittenEvents = { window_id: string; events: bigint | null; missing: bigint | null };

/** Writes the events of each window in order, and skips events that are already written. */
export async function writeEvents(
  services: Prepared,
  leaderId: string,
  batch: { window: string; events: UsageEvent[] }[],
): Promise<WrittenEvents[]> {
  const parts = batch.map(({ window, events }) => ({
    window,
    events: events.map(({ amountMicro, ...event }) => ({ ...event, amount: amountMicro.toString() })),
  }));
  return runPrepared(
    services,
    'usage_write',
    sql<WrittenEvents>`
      select window_id, events, missing from usage_write(${leaderId}, ${toJson(parts)})`,
  );
}

/** The owner of a closed window, and the usage in micro-BGL that its hold did not cover. */
export type ClosedWindow = {
  outcome: 'ok' | 'led' | 'closed' | 'ended';
  user_id: string;
  uncharged: bigint;
};

/**
 * Closes a window. Without a `leaderId`, closes it only if its leader's lease has expired. Throws
 * PostgreSQL's lock_not_available if another transaction locks its rows for more than two seconds.
 */
export async function closeWindowRow(
  services: Prepared,
  { windowId, leaderId, at }: { windowId: string; leaderId: string | null; at: Date },
): Promise<ClosedWindow> {
  const rows = await runPrepared(
    services,
    'usage_close',
    sql<ClosedWindow>`
      select outcome, user_id, uncharged
      from set_config('lock_timeout', '2s', true) bound
      cross join lateral usage_close(${windowId}, ${leaderId}, case when bound <> '' then ${at}::timestamptz end)`,
  );
  return oneOf(rows);
}

/**
 * Renews the leader's lease if it is due. This also works after the lease has expired, but windows that
 * others have closed stay closed.
 */
export async function renewLease(db: Database, leaderId: string): Promise<void> {
  await sql`select usage_lease(${leaderId}, ${LEASE_MS}, ${LEASE_MS - RENEW_MS})`.execute(db);
}

/** Ends the leader's lease, and deletes leases that ended more than a day ago. */
export async function endLease(db: Database, leaderId: string): Promise<void> {
  await sql`
    delete from usage_leaders
    where id = ${leaderId} or lease_until < clock_timestamp() - interval '1 day'`.execute(db);
}

/** Returns ids of open windows whose leader's lease has expired, in order, after the id `after`. */
export async function listLostWindows(db: Database, after: string | null, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select w.id from usage_windows w left join usage_leaders l on l.id = w.leader_id
    where w.closed_at is null and (l.id is null or l.lease_until <= clock_timestamp())
      and (${after}::uuid is null or w.id > ${after})
    order by w.id limit ${limit}`.execute(db);
  return rows.map(({ id }) => id);
}

/**
 * Creates tomorrow's partition, and drops partitions older than `keptDays`. A drop waits for running reads
 * and writes of events, and blocks new ones during the wait. It therefore gives up after two seconds with
 * PostgreSQL's lock_not_available.
 */
export async function rotatePartitions(db: Database, keptDays: number): Promise<void> {
  await sql`select usage_prepare_day((clock_timestamp() at time zone 'UTC')::date + 1)`.execute(db);
  await inTransaction(db, async (tx) => {
    await sql`set local lock_timeout = '2s'`.execute(tx);
    await sql`select usage_forget_days((clock_timestamp() at time zone 'UTC')::date - ${keptDays}::integer)`.execute(
      tx,
    );
  });
}

export type StoredWindow = {
  id: string;
  source: string;
  key_id: string | null;
  events: bigint;
  used_micro: bigint;
  opened_at: Date;
  closed_at: Date | null;
  first_day: string;
  last_day: string;
};

/**
 * The first and last day on which a window can have events, so that only these partitions are read. `h` is
 * the window's hold and `t` its transfer. The day after the transfer is included, because a transfer's time
 * is the start of its transaction.
 */
export const windowDays = {
  first: sql<string>`(h.created_at at time zone 'UTC')::date`,
  last: sql<string>`(coalesce(t.created_at, now()) at time zone 'UTC')::date + 1`,
};

export async function findWindow(
  db: Database,
  { windowId, userId }: { windowId: string; userId: string },
): Promise<StoredWindow | undefined> {
  return db
    .selectFrom('usage_windows as w')
    .innerJoin('ledger_holds as h', 'h.id', 'w.hold_id')
    .leftJoin('ledger_transfers as t', 't.hold_id', 'w.hold_id')
    .select(['w.id', 'source', 'key_id', 'events', 'used_micro', 'opened_at', 'closed_at'])
    .select([windowDays.first.as('first_day'), windowDays.last.as('last_day')])
    .where('w.id', '=', windowId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
}

type Wanted = { window: StoredWindow; before: bigint | null; limit: number };

/** Returns the newest events of a window before event `before`. */
export async function listEvents(db: Database, { window, before, limit }: Wanted) {
  let query = db
    .selectFrom('usage_events')
    .select(['n', 'id', 'at', 'amount_micro', 'quantities'])
    .where('window_id', '=', window.id)
    .where('day', '>=', window.first_day)
    .where('day', '<=', window.last_day)
    .orderBy('n', 'desc')
    .limit(limit);
  if (before !== null) query = query.where('n', '<', before);
  return query.execute();
}

/** Returns a user's windows in the order of their opening, after the window `cursor`. */
export async function listWindows(
  db: Database,
  { userId, cursor, limit }: { userId: string; cursor: string | undefined; limit: number },
) {
  const isAfter = sql<boolean>`
    (opened_at, id) > (select opened_at, id from usage_windows where id = ${cursor ?? null})`;
  return db
    .selectFrom('usage_windows')
    .select(['id', 'key_id', 'source', 'events', 'used_micro', 'quantities', 'opened_at', 'closed_at'])
    .where('user_id', '=', userId)
    .$if(cursor !== undefined, (query) => query.where(isAfter))
    .orderBy('opened_at')
    .orderBy('id')
    .limit(limit)
    .execute();
}
