import type pg from 'pg';
import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';

const SYNC_MS = 10_000;

/**
 * The database's clock, which all processes share: times that one machine writes are compared with
 * the present on another. Between two looks it goes on by this machine's clock, also while the
 * database is away.
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
      (error: unknown) => log.debug({ err: error }, 'the clock of the database could not be read'),
    );
  }, SYNC_MS).unref();
  return {
    clock: { now: () => new Date(Date.now() + aheadMs) },
    close: () => clearInterval(timer),
  };
}

/** How far the database's clock is ahead of this machine's, taking half of the round trip as its delay. */
async function measure(pool: pg.Pool): Promise<number> {
  const asked = Date.now();
  const { rows } = await pool.query<{ now: Date }>('select clock_timestamp() as now');
  const answered = Date.now();
  return (rows[0]?.now.getTime() ?? answered) - (asked + answered) / 2;
}
