import { type Selectable, sql } from 'kysely';
import type { Database, JsonValue, Transaction } from '../platform/db/database.ts';
import type { WorkloadsTable } from '../platform/db/schema.generated.ts';
import { storableJson, storableText } from '../platform/db/storable-text.ts';
import type { Outcome, Placement, Workload, WorkloadSpec } from './workload.ts';

type Row = Selectable<WorkloadsTable>;
/** Columns that the engine changes together with the state. */
export type WorkloadChanges = Partial<
  Omit<Workload, 'id' | 'userId' | 'behaviour' | 'kind' | 'title' | 'spec' | 'placement' | 'createdAt'> & {
    tokenSha256: Buffer;
    checkAt: Date;
    lockToken: string | null;
    lockedUntil: Date | null;
  }
>;

/** The channel on which reconcilers are told that there may be something to do. */
export const WAKE_CHANNEL = 'workloads';

export async function findWorkload(db: Database | Transaction, id: string): Promise<Workload | null> {
  const row = await db.selectFrom('workloads').selectAll().where('id', '=', id).executeTakeFirst();
  return row ? toWorkload(row) : null;
}

export async function findWorkloads(
  db: Database | Transaction,
  ids: string[],
): Promise<Map<string, Workload>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('workloads').selectAll().where('id', 'in', ids).execute();
  return new Map(rows.map((row) => [row.id, toWorkload(row)]));
}

/** Locks the row until the transaction ends. */
export async function lockWorkload(tx: Transaction, id: string): Promise<Workload | null> {
  const row = await tx
    .selectFrom('workloads')
    .selectAll()
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
    .selectAll()
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
    .returningAll()
    .executeTakeFirst();
  return row ? toWorkload(row) : null;
}

/** Those who wait for a slot, locked in the order of their ids: whoever locks several does so in this order. */
export async function listWaiting(tx: Transaction): Promise<Workload[]> {
  const rows = await tx
    .selectFrom('workloads')
    .selectAll()
    .where('ended_at', 'is', null)
    .where('state', '=', 'queued')
    .where('wanted', '=', 'running')
    .orderBy('id')
    .forUpdate()
    .execute();
  return rows.map(toWorkload);
}

export async function listHolding(tx: Transaction): Promise<Workload[]> {
  const rows = await tx
    .selectFrom('workloads')
    .selectAll()
    .where('ended_at', 'is', null)
    .where('devices', 'is not', null)
    .execute();
  return rows.map(toWorkload);
}

/** Workloads whose files can go: those of a completed one at once, those of others when it ended before `keptSince`. */
export async function listUnneededFiles(db: Database, keptSince: Date, limit: number): Promise<string[]> {
  const withFiles = db.selectFrom('workloads').select('id').where('files_removed_at', 'is', null);
  // Apart, since each has an index: those that are kept are not read.
  const rows = await withFiles
    .where('state', '=', 'completed')
    .union(withFiles.where('ended_at', 'is not', null).where('ended_at', '<', keptSince))
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
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
    .returningAll()
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
  for (const { step, at, values } of points) {
    await sql`
      insert into workload_metrics (workload_id, step, at, values)
      values (${workloadId}, ${step}, ${at}, ${JSON.stringify(values)}::jsonb)
      on conflict (workload_id, step) do update
      set at = excluded.at, values = workload_metrics.values || excluded.values`.execute(tx);
  }
}

export async function selectMetrics(
  db: Database | Transaction,
  workloadId: string,
): Promise<{ step: number; at: Date; values: Record<string, number> }[]> {
  const rows = await db
    .selectFrom('workload_metrics')
    .select(['step', 'at', 'values'])
    .where('workload_id', '=', workloadId)
    .orderBy('step')
    .execute();
  return rows.map((row) => ({ ...row, values: row.values as Record<string, number> }));
}

export type Artefact = { path: string; sha256: string; sizeBytes: number };

export async function upsertArtefact(
  tx: Transaction,
  workloadId: string,
  artefact: Artefact,
  at: Date,
): Promise<void> {
  const columns = { sha256: artefact.sha256, size_bytes: BigInt(artefact.sizeBytes), stored_at: at };
  await tx
    .insertInto('workload_artefacts')
    .values({ workload_id: workloadId, path: artefact.path, ...columns })
    .onConflict((conflict) => conflict.columns(['workload_id', 'path']).doUpdateSet(columns))
    .execute();
}

export async function selectArtefacts(db: Database | Transaction, workloadId: string): Promise<Artefact[]> {
  const rows = await db
    .selectFrom('workload_artefacts')
    .select(['path', 'sha256', 'size_bytes'])
    .where('workload_id', '=', workloadId)
    .orderBy('path')
    .execute();
  return rows.map((row) => ({ path: row.path, sha256: row.sha256, sizeBytes: Number(row.size_bytes) }));
}

export async function deleteArtefacts(db: Database, workloadId: string): Promise<void> {
  await db.deleteFrom('workload_artefacts').where('workload_id', '=', workloadId).execute();
}

/** The column holds what requestWorkload wrote, and never changes. */
export function toSpec(column: JsonValue): WorkloadSpec {
  return column as unknown as WorkloadSpec;
}

function toWorkload(row: Row): Workload {
  return {
    id: row.id,
    userId: row.user_id,
    behaviour: row.behaviour as Workload['behaviour'],
    kind: row.kind,
    title: row.title,
    spec: toSpec(row.spec),
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
