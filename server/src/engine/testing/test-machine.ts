import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../../platform/db/database.ts';

/** For tests: a machine of the installation; the first one holds the files. Returns its id. */
export async function testMachine(db: Database, name = 'oven'): Promise<string> {
  const id = randomUUID();
  await sql`
    insert into machines (id, name, host, driver, holds_blobs, secret_check, started_at)
    select ${id}, ${name}, '127.0.0.1', 'fake', not exists (select from machines), '', now()`.execute(db);
  return id;
}

/** For tests: a beat of a web process of the machine at that time. Beats that are more than 6 s apart are broken. */
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

/** For tests: a machine was not seen for 61 s, while `watcherId` has reached the database for `watched` seconds. */
export async function testSilence(
  db: Database,
  id: string,
  { watcherId, watched = 120 }: { watcherId: string; watched?: number },
): Promise<void> {
  await sql`update machines set seen_at = seen_at - interval '61 s' where id = ${id}`.execute(db);
  await sql`
    insert into processes (id, machine_id, roles, since, seen_at)
    values (${watcherId}, ${watcherId}, '{reconciler}', now() - ${watched} * interval '1 s', now())
    on conflict (id) do update set since = excluded.since, seen_at = excluded.seen_at`.execute(db);
}
