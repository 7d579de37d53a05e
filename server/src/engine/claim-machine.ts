import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { keepAlive } from '../platform/db/database.ts';

/** Any number that is Bakehouse's own. */
const LOCK = 4_080_000_002n;
/** A server that was just killed lets go when the database notices. */
const TRIES = 20;
const TRY_PAUSE_MS = 250;

/**
 * Makes this process the only one that runs workloads as processes of its own machine: they end
 * with the server, so a second one that ends would take the first one's along. Returns how to let
 * go; a process that dies lets go too. Throws a plain sentence when another server has them.
 */
export async function claimMachine(databaseUrl: string): Promise<() => Promise<void>> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'bakehouse machine',
    ...keepAlive,
  });
  // Lost with its database, the claim is not taken again: it matters when servers start.
  client.on('error', () => undefined);
  await client.connect();
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const { rows } = await client.query<{ ours: boolean }>('select pg_try_advisory_lock($1) as ours', [LOCK]);
    if (rows[0]?.ours) return () => client.end();
    await sleep(TRY_PAUSE_MS);
  }
  await client.end();
  throw new Error(
    'Another Bakehouse server already runs the work of this database: use that one, or end it first',
  );
}
