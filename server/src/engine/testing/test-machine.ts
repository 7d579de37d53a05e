import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../../platform/db/database.ts';
import { registerCluster } from '../machines/register-cluster.ts';

/** For tests: the machine of the installation, which has the files. Returns its id. */
export async function testMachine(db: Database): Promise<string> {
  const id = randomUUID();
  await sql`
    insert into machines (id, name, host, driver, holds_blobs, started_at)
    values (${id}, 'oven', '127.0.0.1', 'fake', true, now())`.execute(db);
  return id;
}

/** For tests: the installation's cluster. Returns its id. */
export async function testCluster(db: Database): Promise<string> {
  const id = randomUUID();
  await registerCluster(db, { id, name: 'bakery', now: new Date() });
  return id;
}

/**
 * For tests: a heartbeat of a web process of the machine at that time. Heartbeats more than 6 s apart have a
 * gap.
 */
export async function testHeartbeat(
  db: Database,
  machineId: string,
  at: Date,
  { id = machineId, url = null }: { id?: string; url?: string | null } = {},
): Promise<void> {
  await sql`
    insert into processes (id, machine_id, roles, url, since, seen_at)
    values (${id}, ${machineId}, '{web}', ${url}, ${at}, ${at})
    on conflict (id) do update set seen_at = excluded.seen_at,
      since = case when excluded.seen_at - processes.seen_at > interval '6 s' then excluded.since
        else processes.since end`.execute(db);
}
