import { type Selectable, sql } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';
import type { MachinesTable } from '../../platform/db/schema.generated.ts';
import type { Offer } from '../model/offer.ts';
import type { Span } from '../model/span.ts';

type Row = Selectable<MachinesTable>;

/** A machine as all servers see it. */
export type KnownMachine = Pick<Row, 'id' | 'name' | 'host' | 'driver' | 'started_at' | 'seen_at'> & {
  holdsBlobs: boolean;
  offer: Offer | null;
  /** Its server has been seen just now. */
  isPresent: boolean;
};

/** A machine whose server was not seen for so long gets no work. Servers beat every two seconds. */
const PRESENT_S = 15;

/** Of a row of `machines`. */
export const isPresent = sql<boolean>`coalesce(
  seen_at > clock_timestamp() - ${PRESENT_S} * interval '1 second', false)`;

/** All machines, the one that holds the files first; the rest by their age. */
export async function listMachines(db: Database | Transaction): Promise<KnownMachine[]> {
  const { rows } = await sql<Row & { is_present: boolean }>`
    select id, name, host, driver, offer, holds_blobs, started_at, seen_at,
      ${isPresent} as is_present
    from machines order by holds_blobs desc, started_at, id`.execute(db);
  return rows.map(({ holds_blobs, is_present, offer, ...row }) => ({
    ...row,
    holdsBlobs: holds_blobs,
    offer: offer as Offer | null,
    isPresent: is_present,
  }));
}

/** When the server that runs the machine's workloads was seen last; null where it never was. */
export async function findSeenAt(db: Database, id: string): Promise<Date | null> {
  const row = await db.selectFrom('machines').select('seen_at').where('id', '=', id).executeTakeFirst();
  return row?.seen_at ?? null;
}

/** The machine that holds the bytes of all files; null before the first start. */
export async function findBlobHolder(
  db: Database | Transaction,
): Promise<{ id: string; name: string; host: string; secretCheck: Buffer } | null> {
  const row = await db
    .selectFrom('machines')
    .select(['id', 'name', 'host', 'secret_check'])
    .where('holds_blobs', '=', true)
    .executeTakeFirst();
  return row ? { id: row.id, name: row.name, host: row.host, secretCheck: row.secret_check } : null;
}

/** The server that runs the machine's workloads is there, and offers this. By the database's clock, which all share. */
export async function noteMachine(db: Database, id: string, offer: Offer): Promise<void> {
  await sql`
    update machines set seen_at = clock_timestamp(), offer = ${JSON.stringify(offer)}::jsonb
    where id = ${id}`.execute(db);
}

/**
 * Machines whose server was not seen for `lostAfterMs`, all of it within `watched`: before, none could have been
 * seen.
 */
export async function listLostMachines(
  db: Database | Transaction,
  watched: Span,
  lostAfterMs: number,
): Promise<string[]> {
  // greatest() passes over the null of one that was never seen.
  const { rows } = await sql<{ id: string }>`
    select id from machines
    where greatest(seen_at, ${watched.since}) < ${watched.until}::timestamptz - ${lostAfterMs} * interval '1 millisecond'`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

// Processes

/** One beat of a process, which answers other machines at `url`. `anew`: it knows of a break since the last one. */
export async function noteProcess(
  db: Database,
  process: {
    id: string;
    machineId: string;
    roles: string[];
    url: string | null;
    anew: boolean;
    breakMs: number;
  },
): Promise<void> {
  const { id, machineId, roles, url, anew, breakMs } = process;
  await sql`
    insert into processes (id, machine_id, roles, url, since, seen_at)
    values (${id}, ${machineId}, ${roles}, ${url}, clock_timestamp(), clock_timestamp())
    on conflict (id) do update set url = excluded.url,
      since = case
        when ${anew} or processes.seen_at < excluded.seen_at - ${breakMs} * interval '1 millisecond'
        then excluded.seen_at else processes.since end,
      seen_at = excluded.seen_at`.execute(db);
}

/** How many processes with role web there are besides this one, and how long ago one was last seen. */
export async function findOtherWebProcesses(
  db: Database,
  id: string,
  lostAfterMs: number,
): Promise<{ count: number; lastSeenMs: number | null }> {
  const { rows } = await sql<{ count: number; last_seen_ms: number | null }>`
    select count(*)::int as count, extract(epoch from clock_timestamp() - max(seen_at))::float8 * 1000 as last_seen_ms
    from processes
    where id <> ${id} and 'web' = any(roles) and left_at is null
      and seen_at > clock_timestamp() - ${lostAfterMs} * interval '1 millisecond'`.execute(db);
  return { count: rows[0]?.count ?? 0, lastSeenMs: rows[0]?.last_seen_ms ?? null };
}

/** The process ends. */
export async function leaveProcess(db: Database, id: string): Promise<void> {
  await sql`update processes set left_at = clock_timestamp() where id = ${id}`.execute(db);
}

/** Deletes processes that were not seen for an hour: killed ones do not sign off. */
export async function forgetProcesses(db: Database): Promise<void> {
  await sql`delete from processes where seen_at < clock_timestamp() - interval '1 hour'`.execute(db);
}

/** When each process could accept reports of workloads, and where: they report to the machine that holds the files. */
export async function listUptimes(db: Database | Transaction): Promise<(Span & { url: string | null })[]> {
  const { rows } = await sql<Span & { url: string | null }>`
    select processes.since, processes.seen_at as until, processes.url
    from processes join machines on machines.id = processes.machine_id
    where machines.holds_blobs and 'web' = any(processes.roles)`.execute(db);
  return rows;
}

/** Where other machines reach the one that holds the files: the youngest process that lives, else who was seen last. */
export async function findServerUrl(db: Database | Transaction): Promise<string | null> {
  const { rows } = await sql<{ url: string }>`
    select processes.url
    from processes join machines on machines.id = processes.machine_id
    cross join lateral (
      select left_at is null and processes.seen_at > clock_timestamp() - ${PRESENT_S} * interval '1 second' as lives
    ) as present
    where machines.holds_blobs and processes.url is not null
    order by lives desc, case when lives then since else processes.seen_at end desc
    limit 1`.execute(db);
  return rows[0]?.url ?? null;
}

/** When each process of a machine has reached the database. */
export async function listHeartbeats(db: Database | Transaction, machineId: string): Promise<Span[]> {
  return db
    .selectFrom('processes')
    .select(['since', 'seen_at as until'])
    .where('machine_id', '=', machineId)
    .execute();
}
