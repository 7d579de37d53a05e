import type pg from 'pg';
import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';

const SYNC_MS = 10_000;

/**
 * The database's clock. All processes use it, because each compares times that others have written. Between
 * measurements, and during an outage, it advances with this machine's clock.
 */
export async function openDatabaseClock(
  pool: pg.Pool,
  log: Logger,
): Promise<{ clock: Clock; close: () => void }> {
  let aheadMs = await measure(pool);
  const timer = setInterval(() => {
    measure(pool).then(
      (ms) => {
        aheadMs = ms;
      },
      (error: unknown) => log.debug({ err: error }, "failed to read the database's clock"),
    );
  }, SYNC_MS).unref();
  return {
    clock: { now: () => new Date(Date.now() + aheadMs) },
    close: () => clearInterval(timer),
  };
}

/** Returns how far the database's clock is ahead, assuming half of the round trip as delay. */
async function measure(pool: pg.Pool): Promise<number> {
  const asked = Date.now();
  const { rows } = await pool.query<{ now: Date }>('select clock_timestamp() as now');
  const answered = Date.now();
  return (rows[0]?.now.getTime() ?? answered) - (asked + answered) / 2;
}
