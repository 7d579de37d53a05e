import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import { keepAlive } from '../../platform/db/database.ts';

/** The claim of a killed server ends when the database notices. */
const TRIES = 20;
const TRY_PAUSE_MS = 250;
/** How often a lost claim is retried. */
const RECLAIM_PAUSE_MS = 1_000;
/** A broken connection is noticed, unless the network drops packets: so it is pinged. */
const CHECK_MS = 3_000;
const CHECK_MS_MAX = 5_000;

export type MachineClaim = {
  /** Whether this process holds the claim. */
  isHeld: () => boolean;
  /** Releases the claim for good; the end of the process does so too. */
  release: () => Promise<void>;
};

/**
 * Makes this process the only one that runs the workloads of the machine. Throws a plain sentence when another server
 * runs them.
 *
 * The claim lives as long as its connection. When that breaks, the claim is not held from then on;
 * it is taken again as soon as that is possible, unless another server has it, for as long as it does.
 */
export async function claimMachine(databaseUrl: string, log: Logger): Promise<MachineClaim> {
  let held: pg.Client | null = null;
  let released = false;

  function keep(client: pg.Client): void {
    held = client;
    const checks = setInterval(() => {
      client.query('select 1').catch(() => client.connection.stream.destroy());
    }, CHECK_MS).unref();
    const lose = () => {
      clearInterval(checks);
      if (held !== client) return;
      held = null;
      if (released) return;
      log.warn(
        'the claim on the work of this machine is lost: nothing is started or stopped until it is back',
      );
      void reclaim();
    };
    client.once('end', lose);
    // It may have ended between the claim and here.
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
        log.warn('another Bakehouse server runs the work of this machine now: this one waits until it ends');
      }
      if (typeof answer === 'string') continue;
      if (released) {
        await answer.end();
        return;
      }
      log.info('This server runs the work of this machine again');
      keep(answer);
      return;
    }
  }

  for (let tries = 1; tries <= TRIES && held === null; tries += 1) {
    const answer = await tryClaim(databaseUrl);
    if (answer === 'taken') await sleep(TRY_PAUSE_MS);
    else keep(answer);
  }
  if (held === null) {
    throw new Error(
      'Another Bakehouse server already runs the work of this data folder: use that one, or end it first',
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

/** A connection that holds the claim. Rejects when the database cannot be reached. */
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
