import { setTimeout as pause } from 'node:timers/promises';
import { type ChangeEvent, changeEvent } from '@bakehouse/contract/events';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import * as z from 'zod';
import { batch } from '../concurrency/batch.ts';
import type { Database, Transaction } from '../db/database.ts';

/** At most forty NOTIFY per second, because PostgreSQL serializes their commits. Some calls wait for one. */
const ANNOUNCE_AGAIN_MS = 25;

export const CHANNEL = 'bakehouse_change';
const changeMessage = z.object({
  user_id: z.string().nullable(),
  event: changeEvent,
  /** Time of the announcement, in milliseconds. */
  at: z.number(),
});
const signalMessage = z.object({ signal: z.string() });
export const message = z.union([changeMessage, signalMessage]);

/** Returns the payload without the time, which is added when it is sent. */
function toPayload(userId: string | null, event: ChangeEvent): string {
  const payload: Omit<z.infer<typeof changeMessage>, 'at'> = { user_id: userId, event };
  return JSON.stringify(payload);
}

/** Payloads to announce once these open transactions have committed. */
const afterCommit = new WeakMap<Transaction, Set<string>>();
const announcers = new WeakMap<Database, (payloads: Iterable<string>) => Promise<null>>();
/** The latest announcement, which is written after all earlier ones. */
const newest = new WeakMap<Database, Promise<null>>();
const logs = new WeakMap<Database, Logger>();

/** Sets where failed announcements are logged. */
export function logFailedAnnouncements(db: Database, log: Logger): void {
  logs.set(db, log);
}

/**
 * Announces a change to the user's listeners (null: to those of all users) once the transaction has
 * committed. An event carries no data: listeners read the new state with an ordinary call. The event is lost
 * if the process is killed between commit and announcement.
 */
export async function publishChange(
  tx: Transaction,
  userId: string | null,
  event: ChangeEvent,
): Promise<void> {
  await publishChanges(tx, [{ userId, event }]);
}

/** Announces many changes. */
export async function publishChanges(
  tx: Transaction,
  changes: { userId: string | null; event: ChangeEvent }[],
): Promise<void> {
  await publish(
    tx,
    changes.map(({ userId, event }) => toPayload(userId, event)),
  );
}

/**
 * Sends a signal to the server processes that listen for this name, once the transaction has committed.
 * Signals are not stored and not sent to streams.
 */
export async function publishSignal(tx: Transaction, name: string): Promise<void> {
  const payload: z.infer<typeof signalMessage> = { signal: name };
  await publish(tx, [JSON.stringify(payload)]);
}

async function publish(tx: Transaction, payloads: string[]): Promise<void> {
  const waiting = afterCommit.get(tx);
  if (waiting === undefined) await writeAnnouncement(tx, new Set(payloads));
  else for (const payload of payloads) waiting.add(payload);
}

/** Announces a change that was committed outside `inTransaction`. Does not wait. */
export function announceChange(db: Database, userId: string | null, event: ChangeEvent): void {
  // If this fails, listeners only read the new state a little later.
  announce(db, [toPayload(userId, event)]);
}

/** Resolves once all announcements are written, so that the database may be closed. */
export async function announcementsWritten(db: Database): Promise<void> {
  await newest.get(db);
}

/**
 * Collects the events that are published during a transaction, and announces them after its commit. `run`
 * executes the transaction and passes it to its argument. A NOTIFY inside the transaction would be slow:
 * PostgreSQL serializes such commits in the whole cluster, while the transaction holds contended rows.
 */
export async function announceAfterCommit<T>(
  db: Database,
  run: (during: (tx: Transaction) => void) => Promise<T>,
): Promise<T> {
  const payloads = new Set<string>();
  const answer = await run((tx) => afterCommit.set(tx, payloads));
  if (payloads.size > 0) announce(db, payloads);
  return answer;
}

function announce(db: Database, payloads: Iterable<string>): void {
  newest.set(db, announcerOf(db)(payloads));
}

/**
 * Announces a transaction's events. The first announcement is sent immediately; further ones within 25 ms are
 * combined into one NOTIFY.
 */
function announcerOf(db: Database): (payloads: Iterable<string>) => Promise<null> {
  const known = announcers.get(db);
  if (known) return known;
  const announcer = batch<Iterable<string>, null>(
    async (transactions) => {
      const payloads = new Set(transactions.flatMap((announced) => [...announced]));
      try {
        await writeAnnouncement(db, payloads);
      } catch (error) {
        logs.get(db)?.warn({ err: error, changes: payloads.size }, 'could not announce changes');
      }
      await pause(ANNOUNCE_AGAIN_MS, undefined, { ref: false });
      return transactions.map(() => null);
    },
    { max: 1_000 },
  );
  announcers.set(db, announcer);
  return announcer;
}

/**
 * Sends the payloads on the channel, and stores the changes for interrupted streams, in one transaction.
 * Locks the rows in a fixed order, because other processes do the same at the same time.
 */
async function writeAnnouncement(db: Database | Transaction, payloads: Set<string>): Promise<void> {
  await sql`
    with announced as materialized (
      select payload::jsonb as change, statement_timestamp() as at from unnest(${[...payloads]}::text[]) payload
    ), kept as (
      insert into recent_changes (user_id, topic, thing_id, at)
      select coalesce(change ->> 'user_id', ''), change #>> '{event,topic}', change #>> '{event,id}', at
      from announced where change ? 'event' order by 1, 2, 3
      on conflict (user_id, topic, thing_id) do update set at = excluded.at
    )
    select pg_notify(${CHANNEL}, (change || jsonb_build_object('at', floor(extract(epoch from at) * 1000)))::text)
    from announced`.execute(db);
}
