import { sql } from 'kysely';
import type { Database, Transaction } from '../platform/db/database.ts';
import { storableJson, storableText } from '../platform/db/storable-text.ts';
import { publishSignal } from '../platform/events/publish-change.ts';
import type { AttemptId } from './drivers/driver.ts';
import type { Workload, WorkloadSpec } from './model/workload.ts';
import { columns, toSpec, toWorkload } from './workloads.ts';

/** Columns that the engine changes together with the state. */
export type WorkloadChanges = Partial<
  Omit<Workload, 'id' | 'userId' | 'behaviour' | 'kind' | 'title' | 'placement' | 'createdAt'> & {
    /** Null if reports for the workload are rejected. */
    tokenSha256: Buffer | null;
    checkAt: Date;
  }
>;

/** Signal that tells engines that there may be work to do. */
export const WAKE_SIGNAL = 'workloads';

export async function readSpec(db: Database, id: string): Promise<WorkloadSpec> {
  const { spec } = await db
    .selectFrom('workloads')
    .select('spec')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return toSpec(spec);
}

/** Address of a workload. `host` is null if unknown; port 0 if the system chooses it. */
export type ServingPlace = { host: string | null; port: number; isOnMachine: boolean };

/** Returns the address at which the workload serves: the one seen by its driver, otherwise its machine's. */
export async function findServingPlace(tx: Transaction, id: string): Promise<ServingPlace> {
  const { rows } = await sql<{ host: string | null; port: number | null; is_on_machine: boolean }>`
    select coalesce(workloads.address, nullif(machines.host, '')) as host, (spec->>'port')::int as port,
      coalesce(machines.host, '') <> '' as is_on_machine
    from workloads left join machines on machines.id = workloads.machine_id where workloads.id = ${id}`.execute(
    tx,
  );
  const [place] = rows;
  return {
    host: place?.host ?? null,
    port: place?.port ?? 0,
    isOnMachine: place?.is_on_machine ?? true,
  };
}

/** Returns attempts that have begun on a machine and may be alive. */
export async function listStarted(db: Database, machineId: string): Promise<AttemptId[]> {
  return db
    .selectFrom('workloads')
    .select(['id', 'attempt'])
    .where('ended_at', 'is', null)
    .where('machine_id', '=', machineId)
    .where('state', '<>', 'queued')
    .where('attempt', '>', 0)
    .execute();
}

/**
 * Returns the workloads whose files this machine may delete: they moved to another machine, or their files
 * are marked as deleted.
 */
export async function listRemovable(db: Database, ids: string[], machineId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from workloads
    where id = any(${ids}::uuid[]) and (files_removed_at is not null or machine_id <> ${machineId})`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

/** Marks attempts as interrupted by the server. Skips attempts that have been replaced. */
export async function markInterrupted(db: Database, attempts: AttemptId[]): Promise<void> {
  if (attempts.length === 0) return;
  const [ids, numbers] = [attempts.map(({ id }) => id), attempts.map(({ attempt }) => attempt)];
  await sql`
    update workloads set interrupted = true
    from unnest(${ids}::uuid[], ${numbers}::integer[]) as given (id, attempt)
    where workloads.id = given.id and workloads.attempt = given.attempt and ended_at is null`.execute(db);
}

/** Updates the workload and returns the new row. */
export async function updateWorkload(
  tx: Transaction,
  id: string,
  changes: WorkloadChanges,
): Promise<Workload> {
  const row = await tx
    .updateTable('workloads')
    .set(toColumns(changes))
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow();
  return toWorkload(row);
}

/** Wakes the engines of all server processes after the commit; ticks cover lost signals. */
export async function wakeEngines(tx: Transaction): Promise<void> {
  await publishSignal(tx, WAKE_SIGNAL);
}

const LOG_LINES_KEPT = 2000;

/** Appends lines to the log, and deletes the oldest lines beyond the limit. */
export async function insertLogLines(
  tx: Transaction,
  workloadId: string,
  lines: { at: Date; line: string }[],
): Promise<void> {
  if (lines.length === 0) return;
  await tx
    .insertInto('workload_logs')
    .values(
      lines
        .slice(-LOG_LINES_KEPT)
        .map(({ at, line }) => ({ workload_id: workloadId, at, line: toLogLine(line) })),
    )
    .execute();
  await sql`
    delete from workload_logs where workload_id = ${workloadId} and id <= (
      select id from workload_logs where workload_id = ${workloadId} order by id desc offset ${LOG_LINES_KEPT} limit 1
    )`.execute(tx);
}

/** Returns a printed line as stored in the log: at most 4000 characters. */
export function toLogLine(line: string): string {
  return storableText(line.slice(0, 4000));
}

/** Inserts points; values of an existing step are merged by name. */
export async function upsertMetrics(
  tx: Transaction,
  workloadId: string,
  points: { step: number; at: Date; values: Record<string, number> }[],
): Promise<void> {
  if (points.length === 0) return;
  // One statement may change a row only once, so merge duplicate steps of a batch first.
  const bySteps = new Map<number, { at: Date; values: Record<string, number> }>();
  for (const { step, at, values } of points) {
    bySteps.set(step, { at, values: { ...bySteps.get(step)?.values, ...values } });
  }
  const joined = [...bySteps.values()];
  await sql`
    insert into workload_metrics (workload_id, step, at, values)
    select ${workloadId}, given.step, given.at, given.values
    from unnest(
      ${[...bySteps.keys()]}::integer[],
      ${joined.map(({ at }) => at)}::timestamptz[],
      ${joined.map(({ values }) => JSON.stringify(values))}::jsonb[]
    ) as given (step, at, values)
    on conflict (workload_id, step) do update
    set at = excluded.at, values = workload_metrics.values || excluded.values`.execute(tx);
}

/** Converts field names to column names (stopReason to stop_reason), and values to stored ones. */
function toColumns(changes: WorkloadChanges): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(changes).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      toColumn(name, value),
    ]),
  );
}

function toColumn(name: string, value: unknown): unknown {
  if (name === 'outcome' && value !== null) return JSON.stringify(storableJson(value));
  return typeof value === 'string' ? storableText(value) : value;
}

/** Returns the number of runs working on a machine's CPU now. */
export async function countCpuRunsAtWork(db: Database | Transaction, machineId: string): Promise<number> {
  const { count } = await db
    .selectFrom('workloads')
    .select((build) => build.fn.countAll<bigint>().as('count'))
    .where('ended_at', 'is', null)
    .where('behaviour', '=', 'run')
    .where('accelerator', 'is', null)
    .where('machine_id', '=', machineId)
    .where('state', 'in', ['ready', 'degraded'])
    .executeTakeFirstOrThrow();
  return Number(count);
}
