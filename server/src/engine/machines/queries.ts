import { type Selectable, sql } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';
import type { MachinesTable } from '../../platform/db/schema.generated.ts';
import type { Offer } from '../model/offer.ts';
import type { Span } from '../model/span.ts';

type Row = Selectable<MachinesTable>;

/** A machine as seen by all servers. */
export type KnownMachine = Pick<Row, 'id' | 'name' | 'driver' | 'started_at' | 'seen_at'> & {
  offer: Offer | null;
  /** True if its server was seen recently. */
  isPresent: boolean;
};

/** Value of `driver` in the row of a cluster. */
export const CLUSTER = 'kubernetes';
/** A machine that was not seen for this long gets no work. Servers send a heartbeat every two seconds. */
const PRESENT_S = 15;

/** For a row of `machines`. */
export const isPresent = sql<boolean>`coalesce(
  seen_at > clock_timestamp() - ${PRESENT_S} * interval '1 second', false)`;

/** Returns the machine of the installation, followed by its cluster. */
export async function listMachines(db: Database | Transaction): Promise<KnownMachine[]> {
  const { rows } = await sql<Row & { is_present: boolean }>`
    select id, name, driver, offer, started_at, seen_at, ${isPresent} as is_present
    from machines order by driver = ${CLUSTER}, started_at, id`.execute(db);
  return rows.map(({ is_present, offer, ...row }) => ({
    ...row,
    offer: offer as Offer | null,
    isPresent: is_present,
  }));
}

/** Returns when the server that runs the machine's workloads was last seen, or null. */
export async function findSeenAt(db: Database, id: string): Promise<Date | null> {
  const row = await db.selectFrom('machines').select('seen_at').where('id', '=', id).executeTakeFirst();
  return row?.seen_at ?? null;
}

/** The machine of an installation. The only other row of `machines` is its cluster. */
export type InstallationMachine = {
  id: string;
  name: string;
  /** True if all files are stored in its data folder; false if they are in a bucket. */
  holdsBlobs: boolean;
};

/** Returns null before the first start. */
export async function findInstallationMachine(
  db: Database | Transaction,
): Promise<InstallationMachine | null> {
  const row = await db
    .selectFrom('machines')
    .select(['id', 'name', 'holds_blobs as holdsBlobs'])
    .where('driver', '<>', CLUSTER)
    .executeTakeFirst();
  return row ?? null;
}

/**
 * Records a heartbeat and the offer of the server that runs the machine's workloads, by the database's clock,
 * which all processes share.
 */
export async function recordMachineHeartbeat(db: Database, id: string, offer: Offer): Promise<void> {
  await sql`
    update machines set seen_at = clock_timestamp(), offer = ${JSON.stringify(offer)}::jsonb
    where id = ${id}`.execute(db);
}

/** For a row of `processes`. */
const lives = sql<boolean>`(
  left_at is null and processes.seen_at > clock_timestamp() - ${PRESENT_S} * interval '1 second')`;

/**
 * Records one heartbeat of a process that is reachable at `url`. `startsSpan` starts a new span, as does a pause
 * longer than `breakMs`.
 */
export async function recordProcessHeartbeat(
  db: Database,
  process: {
    id: string;
    machineId: string | null;
    secretCheck: Buffer | null;
    roles: string[];
    url: string | null;
    asked: string[];
    startsSpan: boolean;
    breakMs: number;
  },
): Promise<void> {
  const { id, machineId, secretCheck, roles, url, asked, startsSpan, breakMs } = process;
  await sql`
    insert into processes (id, machine_id, secret_check, roles, url, asked, since, seen_at)
    values (${id}, ${machineId}, ${secretCheck}, ${roles}, ${url}, ${asked}, clock_timestamp(), clock_timestamp())
    on conflict (id) do update set url = excluded.url, asked = excluded.asked,
      since = case
        when ${startsSpan} or processes.seen_at < excluded.seen_at - ${breakMs} * interval '1 millisecond'
        then excluded.seen_at else processes.since end,
      seen_at = excluded.seen_at`.execute(db);
}

export type OtherWebProcesses = {
  count: number;
  /** Time since the last heartbeat of any of them; null if there is none. */
  lastSeenMs: number | null;
  /** By model server: the number of processes that recently sent requests to it. */
  asked: Record<string, number>;
};

/** Returns the other processes with role web. */
export async function findOtherWebProcesses(
  db: Database,
  id: string,
  lostAfterMs: number,
): Promise<OtherWebProcesses> {
  const { rows } = await sql<{
    count: number;
    last_seen_ms: number | null;
    asked: Record<string, number> | null;
  }>`
    with others as (
      select seen_at, asked from processes
      where id <> ${id} and 'web' = any(roles) and left_at is null
        and seen_at > clock_timestamp() - ${lostAfterMs} * interval '1 millisecond')
    select (select count(*)::int from others) as count,
      (select extract(epoch from clock_timestamp() - max(seen_at))::float8 * 1000 from others) as last_seen_ms,
      (select jsonb_object_agg(server, times)
        from (select server, count(*)::int as times from others, unnest(asked) as server group by 1) as counted) as asked`.execute(
    db,
  );
  const [found] = rows;
  return { count: found?.count ?? 0, lastSeenMs: found?.last_seen_ms ?? null, asked: found?.asked ?? {} };
}

/** Marks the process as ended. */
export async function markProcessEnded(db: Database, id: string): Promise<void> {
  await sql`update processes set left_at = clock_timestamp() where id = ${id}`.execute(db);
}

/** Deletes processes that were not seen for an hour, because killed ones do not mark themselves as ended. */
export async function deleteStaleProcesses(db: Database): Promise<void> {
  await sql`delete from processes where seen_at < clock_timestamp() - interval '1 hour'`.execute(db);
}

/** Returns true if a live process has another secret. */
export async function hasOtherSecret(db: Database | Transaction, secretCheck: Buffer): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select exists (
      select from processes where secret_check <> ${secretCheck} and ${lives}
    ) as found`.execute(db);
  return rows[0]?.found ?? false;
}

/** Returns, for each web process, its URL and the span in which it could accept workload reports. */
export async function listUptimes(db: Database | Transaction): Promise<(Span & { url: string | null })[]> {
  return db
    .selectFrom('processes')
    .select(['since', 'seen_at as until', 'url'])
    .where(sql<boolean>`'web' = any(roles)`)
    .execute();
}

/**
 * Returns the URL at which workloads reach the server: that of the live process that started last, otherwise
 * of the process seen last.
 */
export async function findServerUrl(db: Database | Transaction): Promise<string | null> {
  const { rows } = await sql<{ url: string }>`
    select url
    from processes cross join lateral (select ${lives} as lives) as present
    where url is not null
    order by lives desc, case when lives then since else seen_at end desc
    limit 1`.execute(db);
  return rows[0]?.url ?? null;
}
