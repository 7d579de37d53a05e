import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { keepAlive } from '../../platform/db/database.ts';

/** Retry for 5 s: the claim of a killed server ends only when the database notices the broken connection. */
const TRIES = 20;
const TRY_PAUSE_MS = 250;
/** Delay between attempts to reacquire a lost claim. */
const RECLAIM_PAUSE_MS = 1_000;
/** Interval between pings. They detect a broken connection even if the network drops packets. */
const CHECK_MS = 3_000;
const CHECK_MS_MAX = 5_000;

export type MachineClaim = {
  /** Whether this process holds the claim. */
  isHeld: () => boolean;
  /** Releases the claim permanently. The claim also ends with the process. */
  release: () => Promise<void>;
};

/**
 * Makes this process the only one that runs the workloads of the machine. Throws a plain sentence if another
 * server runs them. The claim ends when its database connection ends; it is then reacquired as soon as no
 * other server holds it.
 */
export async function claimMachine(databaseUrl: string, log: Logger): Promise<MachineClaim> {
  let held: pg.Client | null = null;
  let released = false;

  function watchClient(client: pg.Client): void {
    held = client;
    const checks = setInterval(() => {
      client.query('select 1').catch(() => client.connection.stream.destroy());
    }, CHECK_MS).unref();
    const lose = () => {
      clearInterval(checks);
      if (held !== client) return;
      held = null;
      if (released) return;
      log.warn('lost the claim on this machine; no workloads are started or stopped until it is reacquired');
      void reclaim();
    };
    client.once('end', lose);
    // The connection may have ended before the listener was added.
    if (client.connection.stream.destroyed) lose();
  }

  async function reclaim(): Promise<void> {
    let isTaken = false;
    for (;;) {
      await sleep(RECLAIM_PAUSE_MS, null, { ref: false });
      if (released) return;
      const answer = await tryClaim(databaseUrl).catch(() => 'unreachable' as const);
      if (answer === 'taken' && !isTaken) {
        isTaken = true;
        log.warn('another Bakehouse server claimed this machine; waiting until it ends');
      }
      if (typeof answer === 'string') continue;
      if (released) {
        await answer.end();
        return;
      }
      log.info('reacquired the claim on this machine');
      watchClient(answer);
      return;
    }
  }

  for (let tries = 1; tries <= TRIES && held === null; tries += 1) {
    const answer = await tryClaim(databaseUrl);
    if (answer === 'taken') await sleep(TRY_PAUSE_MS);
    else watchClient(answer);
  }
  if (held === null) {
    throw new Error(
      'Another Bakehouse server already runs the workloads of this data folder: use that server, or stop it first',
    );
  }
  return {
    isHeld: () => held !== null,
    release: async () => {
      released = true;
      await held?.end();
    },
  };
}

/** Returns a connection that holds the claim. Rejects if the database is unreachable. */
async function tryClaim(databaseUrl: string): Promise<pg.Client | 'taken'> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'bakehouse machine',
    connectionTimeoutMillis: CHECK_MS_MAX,
    query_timeout: CHECK_MS_MAX,
    ...keepAlive,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ ours: boolean }>(
      "select pg_try_advisory_lock(hashtextextended('bakehouse machine', 0)) as ours",
    );
    if (rows[0]?.ours) return client;
  } catch (error) {
    client.connection.stream.destroy();
    throw error;
  }
  await client.end();
  return 'taken';
}
