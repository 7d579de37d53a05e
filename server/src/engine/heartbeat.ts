import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Clock } from '../platform/clock.ts';
import type { Database, Transaction } from '../platform/db/database.ts';
import { BEATS_APART_MAX_S, type Listening } from './plan.ts';

/** Several fit into the longest time between two beats. */
const BEAT_MS = 3_000;

/**
 * Says every few seconds that this process takes in reports, until the returned function is called.
 * It is said in the database: where that is away no report is taken in either, and whoever judges
 * the silence of a workload may be another process.
 */
export async function keepHeartbeat(parts: { db: Database; clock: Clock; log: Logger }): Promise<() => void> {
  const { db, clock, log } = parts;
  await beat(db, clock.now());
  let beating = false;
  const timer = setInterval(() => {
    if (beating) return;
    beating = true;
    beat(db, clock.now())
      .catch((error: unknown) => log.warn({ err: error }, 'reports cannot be taken in at present'))
      .finally(() => {
        beating = false;
      });
  }, BEAT_MS);
  return () => clearInterval(timer);
}

/** One beat; the first one after a break begins anew. */
export async function beat(db: Database, now: Date): Promise<void> {
  const broken = new Date(now.getTime() - BEATS_APART_MAX_S * 1000);
  await sql`
    insert into workload_listening (since, until) values (${now}, ${now})
    on conflict (one) do update set
      since = case when workload_listening.until < ${broken} then excluded.since else workload_listening.since end,
      until = greatest(workload_listening.until, excluded.until)`.execute(db);
}

/** Null before the first beat ever. */
export async function findListening(db: Database | Transaction): Promise<Listening | null> {
  const row = await db.selectFrom('workload_listening').select(['since', 'until']).executeTakeFirst();
  return row ?? null;
}
