import { type ChangeEvent, changeEvent } from '@bakehouse/contract/events';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import * as z from 'zod';
import type { Database, Transaction } from '../db/database.ts';
import { gather } from '../gather.ts';

export const CHANNEL = 'bakehouse_change';
export const message = z.object({ user_id: z.string().nullable(), event: changeEvent });

/** What travels on the channel. */
export function toPayload(userId: string | null, event: ChangeEvent): string {
  const payload: z.infer<typeof message> = { user_id: userId, event };
  return JSON.stringify(payload);
}

/** What the transactions that are open announce after their commit. */
const afterCommit = new WeakMap<Transaction, Set<string>>();
const announcers = new WeakMap<Database, (payload: string) => Promise<null>>();
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
  const payloads = changes.map(({ userId, event }) => toPayload(userId, event));
  const waiting = afterCommit.get(tx);
  if (waiting === undefined) await notify(tx, payloads);
  else for (const payload of payloads) waiting.add(payload);
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
  const announce = announcerOf(db);
  // Whoever is not told reads the new state a little later; the work is done.
  for (const payload of payloads) void announce(payload);
  return answer;
}

/** Of all that is announced at the same time one NOTIFY is made. */
function announcerOf(db: Database): (payload: string) => Promise<null> {
  const known = announcers.get(db);
  if (known) return known;
  const announcer = gather<string, null>(
    async (payloads) => {
      try {
        await notify(db, [...new Set(payloads)]);
      } catch (error) {
        logs.get(db)?.warn({ err: error, changes: payloads.length }, 'could not announce changes');
      }
      return payloads.map(() => null);
    },
    { max: 1_000 },
  );
  announcers.set(db, announcer);
  return announcer;
}

async function notify(db: Database | Transaction, payloads: string[]): Promise<void> {
  await sql`select pg_notify(${CHANNEL}, payload) from unnest(${payloads}::text[]) payload`.execute(db);
}
