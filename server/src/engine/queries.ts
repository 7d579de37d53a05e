import { type Selectable, sql } from 'kysely';
import type { Database, JsonValue, Transaction } from '../platform/db/database.ts';
import type { WorkloadsTable } from '../platform/db/schema.generated.ts';
import { storableJson, storableText } from '../platform/db/storable-text.ts';
import type { Outcome, Placement, Workload, WorkloadSpec, WorkloadWithSpec } from './workload.ts';

type Row = Selectable<WorkloadsTable>;
/** All but the spec, and what only the database looks at. */
export const columns = [
  'id',
  'user_id',
  'behaviour',
  'kind',
  'title',
  'accelerator',
  'accelerator_count',
  'expected_seconds',
  'wanted',
  'state',
  'reason',
  'devices',
  'attempt',
  'interrupted',
  'restarts',
  'failures',
  'accepted_seq',
  'phase',
  'done',
  'total',
  'unit',
  'remaining_seconds',
  'step',
  'steps_total',
  'base_url',
  'server_key',
  'output_offset',
  'outcome',
  'active_seconds',
  'saved_seconds',
  'created_at',
  'queued_at',
  'not_before',
  'attempt_started_at',
  'started_at',
  'ready_at',
  'last_report_at',
  'stop_requested_at',
  'stop_reason',
  'ended_at',
  'files_removed_at',
] as const satisfies (keyof Row)[];
/** Columns that the engine changes together with the state. */
export type WorkloadChanges = Partial<
  Omit<Workload, 'id' | 'userId' | 'behaviour' | 'kind' | 'title' | 'placement' | 'createdAt'> & {
    tokenSha256: Buffer;
    checkAt: Date;
    lockToken: string | null;
    lockedUntil: Date | null;
  }
>;

/** The channel on which reconcilers are told that there may be something to do. */
export const WAKE_CHANNEL = 'workloads';

export async function findWorkload(db: Database | Transaction, id: string): Promise<Workload | null> {
  const row = await db.selectFrom('workloads').select(columns).where('id', '=', id).executeTakeFirst();
  return row ? toWorkload(row) : null;
}

export async function findWorkloadWithSpec(
  db: Database | Transaction,
  id: string,
): Promise<WorkloadWithSpec | null> {
  const row = await db
    .selectFrom('workloads')
    .select([...columns, 'spec'])
    .where('id', '=', id)
    .executeTakeFirst();
  return row ? { ...toWorkload(row), spec: toSpec(row.spec) } : null;
}

export async function readSpec(db: Database, id: string): Promise<WorkloadSpec> {
  const { spec } = await db
    .selectFrom('workloads')
    .select('spec')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return toSpec(spec);
}

export async function findWorkloads(
  db: Database | Transaction,
  ids: string[],
): Promise<Map<string, Workload>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('workloads').select(columns).where('id', 'in', ids).execute();
  return new Map(rows.map((row) => [row.id, toWorkload(row)]));
}

/** Locks the row until the transaction ends. */
export async function lockWorkload(tx: Transaction, id: string): Promise<Workload | null> {
  const row = await tx
    .selectFrom('workloads')
    .select(columns)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  return row ? toWorkload(row) : null;
}

/** The same, if the lease of `lockToken` still holds. */
export async function lockLeasedWorkload(
  tx: Transaction,
  id: string,
  lockToken: string,
): Promise<Workload | null> {
  const row = await tx
    .selectFrom('workloads')
    .select(columns)
    .where('id', '=', id)
    .where('lock_token', '=', lockToken)
    .forUpdate()
    .executeTakeFirst();
  return row ? toWorkload(row) : null;
}

/** Leases the workload that has been due longest; null when none is. */
export async function leaseDueWorkload(
  db: Database,
  lease: { now: Date; lockToken: string; lockedUntil: Date; checkAt: Date },
): Promise<Workload | null> {
  const row = await db
    .updateTable('workloads')
    .set({ lock_token: lease.lockToken, locked_until: lease.lockedUntil, check_at: lease.checkAt })
    .where('id', '=', (query) =>
      query
        .selectFrom('workloads')
        .select('id')
        .where('ended_at', 'is', null)
        .where('check_at', '<=', lease.now)
        .where((where) =>
          where.or([where('locked_until', 'is', null), where('locked_until', '<=', lease.now)]),
        )
        // Who waits for a slot is the queue's business.
        .where((where) => where.or([where('state', '<>', 'queued'), where('wanted', '=', 'stopped')]))
        .orderBy('check_at')
        .limit(1)
        .forUpdate()
        .skipLocked(),
    )
    .returning(columns)
    .executeTakeFirst();
  return row ? toWorkload(row) : null;
}

/** Where the workload was told to answer; port 0: where the system chooses. */
export async function findServingPlace(tx: Transaction, id: string): Promise<{ host: string; port: number }> {
  const { rows } = await sql<{ host: string | null; port: number | null }>`
    select spec->>'host' as host, (spec->>'port')::int as port from workloads where id = ${id}`.execute(tx);
  return { host: rows[0]?.host ?? '127.0.0.1', port: rows[0]?.port ?? 0 };
}

/** Runs that work on the CPU at this moment. */
export async function countCpuRunsAtWork(db: Database): Promise<number> {
  const { count } = await db
    .selectFrom('workloads')
    .select((build) => build.fn.countAll<bigint>().as('count'))
    .where('ended_at', 'is', null)
    .where('behaviour', '=', 'run')
    .where('accelerator', 'is', null)
    .where('state', 'in', ['ready', 'degraded'])
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Attempts that have begun and may be alive. */
export async function listBegun(db: Database): Promise<{ id: string; attempt: number }[]> {
  return db
    .selectFrom('workloads')
    .select(['id', 'attempt'])
    .where('ended_at', 'is', null)
    .where('state', '<>', 'queued')
    .where('attempt', '>', 0)
    .execute();
}

/** Notes that the server itself ends these attempts. */
export async function markInterrupted(db: Database, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await db
    .updateTable('workloads')
    .set({ interrupted: true })
    .where('id', 'in', ids)
    .where('ended_at', 'is', null)
    .execute();
}

/** Writes changes and answers with the row after them. */
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

/** Wakes the reconcilers of all server processes once the transaction is committed. */
export async function notifyReconcilers(tx: Database | Transaction): Promise<void> {
  await sql`select pg_notify(${WAKE_CHANNEL}, '')`.execute(tx);
}

const LOG_LINES_KEPT = 2000;

/** Adds lines to the log and drops what has become too old to keep. */
export async function insertLogLines(
  tx: Transaction,
  workloadId: string,
  lines: { at: Date; line: string }[],
): Promise<void> {
  if (lines.length === 0) return;
  await tx
    .insertInto('workload_logs')
    .values(lines.map(({ at, line }) => ({ workload_id: workloadId, at, line: toLogLine(line) })))
    .execute();
  await sql`
    delete from workload_logs where workload_id = ${workloadId} and id <= (
      select id from workload_logs where workload_id = ${workloadId} order by id desc offset ${LOG_LINES_KEPT} limit 1
    )`.execute(tx);
}

/** A printed line as the log keeps it: one that is longer than a screen helps nobody. */
export function toLogLine(line: string): string {
  return storableText(line.slice(0, 4000));
}

/** The last lines of a log, oldest first; `during` leaves out what was written before and after. */
export async function selectLogLines(
  db: Database | Transaction,
  workloadId: string,
  limit: number,
  during: { from: Date | null; until: Date | null } = { from: null, until: null },
): Promise<{ at: Date; line: string }[]> {
  let query = db.selectFrom('workload_logs').select(['at', 'line']).where('workload_id', '=', workloadId);
  if (during.from) query = query.where('at', '>=', during.from);
  if (during.until) query = query.where('at', '<=', during.until);
  const rows = await query.orderBy('id', 'desc').limit(limit).execute();
  return rows.reverse();
}

/** Adds points; values of a step that is already there are joined, and replaced by name. */
export async function upsertMetrics(
  tx: Transaction,
  workloadId: string,
  points: { step: number; at: Date; values: Record<string, number> }[],
): Promise<void> {
  if (points.length === 0) return;
  // One statement changes a row once: what a batch says twice of a step is joined before it.
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

/** The points of a workload by step; with `after` only those that were reported later. */
export async function selectMetrics(
  db: Database | Transaction,
  workloadId: string,
  after: Date | null = null,
): Promise<{ step: number; at: Date; values: Record<string, number> }[]> {
  const rows = await db
    .selectFrom('workload_metrics')
    .select(['step', 'at', 'values'])
    .where('workload_id', '=', workloadId)
    .$if(after !== null, (query) => query.where('at', '>', after))
    .orderBy('step')
    .execute();
  return rows.map((row) => ({ ...row, values: row.values as Record<string, number> }));
}

/** The column holds what requestWorkload wrote, and never changes. */
function toSpec(column: JsonValue): WorkloadSpec {
  return column as unknown as WorkloadSpec;
}

/** A row of the table, by these columns. */
export function toWorkload(row: Pick<Row, (typeof columns)[number]>): Workload {
  return {
    id: row.id,
    userId: row.user_id,
    behaviour: row.behaviour as Workload['behaviour'],
    kind: row.kind,
    title: row.title,
    placement: { accelerator: row.accelerator, count: row.accelerator_count } as Placement,
    expectedSeconds: row.expected_seconds,
    wanted: row.wanted as Workload['wanted'],
    state: row.state as Workload['state'],
    reason: row.reason,
    devices: row.devices,
    attempt: row.attempt,
    interrupted: row.interrupted,
    restarts: row.restarts,
    failures: row.failures,
    acceptedSeq: row.accepted_seq,
    phase: row.phase,
    done: row.done,
    total: row.total,
    unit: row.unit as Workload['unit'],
    remainingSeconds: row.remaining_seconds,
    step: row.step,
    stepsTotal: row.steps_total,
    baseUrl: row.base_url,
    serverKey: row.server_key,
    outputOffset: row.output_offset,
    outcome: row.outcome as unknown as Outcome | null,
    activeSeconds: row.active_seconds,
    savedSeconds: row.saved_seconds,
    createdAt: row.created_at,
    queuedAt: row.queued_at,
    notBefore: row.not_before,
    attemptStartedAt: row.attempt_started_at,
    startedAt: row.started_at,
    readyAt: row.ready_at,
    lastReportAt: row.last_report_at,
    stopRequestedAt: row.stop_requested_at,
    stopReason: row.stop_reason,
    endedAt: row.ended_at,
    filesRemovedAt: row.files_removed_at,
  };
}

/** stopReason -> stop_reason; the outcome is stored as JSON. A reason may quote what a process printed. */
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
