import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

/** A process sends a heartbeat every two seconds; a killed one has just stopped. */
const SILENT_S = 10;
const WAIT_MS_MAX = 15_000;
const LOOK_MS = 500;

/**
 * Resolves once no other process uses this database: a process of another version would continue with its own
 * schema. Throws a plain sentence that names the remaining ones.
 */
export async function awaitSilence(client: pg.Client, waitMsMax: number = WAIT_MS_MAX): Promise<void> {
  const began = performance.now();
  for (;;) {
    const running = await listRunning(client);
    if (running.length === 0) return;
    if (performance.now() - began > waitMsMax) {
      throw new Error(
        `This version of Bakehouse changes the database, and processes of another version still use it: ${running.join('; ')}. Stop them, then start again`,
      );
    }
    await sleep(LOOK_MS);
  }
}

async function listRunning(client: pg.Client): Promise<string[]> {
  // Very old databases have no table of processes.
  const known = await client.query("select to_regclass('processes') is not null as found");
  if (!known.rows[0].found) return [];
  const { rows } = await client.query<{ what: string }>(`
    select array_to_string(p.roles, '+') || coalesce(' on ' || m.name, ' at ' || p.url, '') as what
    from processes p left join machines m on m.id = p.machine_id
    where p.left_at is null and p.seen_at > clock_timestamp() - interval '${SILENT_S} seconds'
    order by what`);
  return rows.map(({ what }) => what);
}
