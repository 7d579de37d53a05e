import { setTimeout as pause } from 'node:timers/promises';
import { type ChangeEvent, changeEvent } from '@bakehouse/contract/events';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import * as z from 'zod';
import { batch } from '../concurrency/batch.ts';
import type { Database, Transaction } from '../db/database.ts';

/** At most forty NOTIFY a second, however much changes: each is a commit, and they come one after the other. Calls wait for some. */
const ANNOUNCE_AGAIN_MS = 25;

export const CHANNEL = 'bakehouse_change';
const changeMessage = z.object({
  user_id: z.string().nullable(),
  event: changeEvent,
  /** When it was announced, in milliseconds. */
  at: z.number(),
});
const signalMessage = z.object({ signal: z.string() });
export const message = z.union([changeMessage, signalMessage]);

/** What travels on the channel, but for its time. */
function toPayload(userId: string | null, event: ChangeEvent): string {
  const payload: Omit<z.infer<typeof changeMessage>, 'at'> = { user_id: userId, event };
  return JSON.stringify(payload);
}

/** What the transactions that are open announce after their commit. */
const afterCommit = new WeakMap<Transaction, Set<string>>();
const announcers = new WeakMap<Database, (payloads: Iterable<string>) => Promise<null>>();
/** The last announcement, before which the earlier ones are written. */
const newest = new WeakMap<Database, Promise<null>>();
const logs = new WeakMap<Database, Logger>();

/** Where it is noted that something could not be announced. */
export function logFailedAnnouncements(db: Database, log: Logger): void {
  logs.set(db, log);
}

/**
 * Announces a change to the user's listeners, or with null to everybody's, once the transaction has
 * committed, and not if it fails. An event carries no data: whoever hears it reads the new state
 * through the ordinary call. A process that is killed between the two takes the announcement with it.
 */
export async function publishChange(
  tx: Transaction,
  userId: string | null,
  event: ChangeEvent,
): Promise<void> {
  await publishChanges(tx, [{ userId, event }]);
}

/** The same for many changes at once. */
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
 * Sends a signal to the server processes that listen for this name, once the transaction has committed, and not if
 * it fails. It is no change of anybody's: no stream hears of it, and nothing is kept.
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

/** The same after a commit, for what is written in other ways than by `inTransaction`. Waits for nothing. */
export function announceChange(db: Database, userId: string | null, event: ChangeEvent): void {
  // Whoever does not hear of it reads the new state a little later; the work is done.
  announce(db, [toPayload(userId, event)]);
}

/** Resolves once all that was announced is written, so that the database may be left. */
export async function announcementsWritten(db: Database): Promise<void> {
  await newest.get(db);
}

/**
 * Keeps back what `work` publishes and announces it after the commit of its transaction, in which `run` calls
 * `work`. PostgreSQL lets transactions with a NOTIFY commit only one after the other in the whole
 * cluster: those that move credits or hold rows that others wait for must not be among them.
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

/** What a transaction announces goes together: the first at once; of what comes in the moment after it one NOTIFY is made. */
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
 * Announces the payloads on the channel, and keeps the changes for streams that were cut: both or neither. Rows
 * are taken in one order, since other processes announce too.
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
