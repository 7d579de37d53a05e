import type { Selectable } from 'kysely';
import type { Database, JsonValue, Transaction } from '../platform/db/database.ts';
import type { WorkloadsTable } from '../platform/db/schema.generated.ts';
import type { Placement, Workload, WorkloadSpec, WorkloadWithSpec } from './model/workload.ts';

/** All columns except the spec and those used only in SQL. */
export const columns = [
  'id',
  'user_id',
  'behaviour',
  'machine_id',
  'kind',
  'deployment_id',
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
  'killed_for',
  'restarts',
  'failures',
  'accepted_seq',
  'phase',
  'phase_counted',
  'done',
  'total',
  'unit',
  'remaining_seconds',
  'step',
  'steps_total',
  'base_url',
  'address',
  'server_url',
  'server_key',
  'output_cursor',
  'outcome',
  'active_seconds',
  'saved_seconds',
  'checkpoint_seconds',
  'created_at',
  'queued_at',
  'not_before',
  'attempt_started_at',
  'started_at',
  'ready_at',
  'last_report_at',
  'stop_requested_at',
  'stop_reason',
  'drain_seconds',
  'ended_at',
  'files_removed_at',
] as const satisfies (keyof Row)[];

const fieldNames = new Map(
  columns.map((column) => [column, column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())]),
);

/** Returns the workload with its spec, or null. */
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

/** Returns the number of training runs that execute now on the CPU of the machine that a workload is on. */
export async function countTrainingRunsNextTo(db: Database, id: string): Promise<number> {
  const { count } = await db
    .selectFrom('workloads')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('ended_at', 'is', null)
    .where('state', '<>', 'queued')
    .where('spec_kind', '=', 'train')
    .where('accelerator', 'is', null)
    .where('machine_id', '=', (build) =>
      build.selectFrom('workloads as given').select('given.machine_id').where('given.id', '=', id),
    )
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Returns the workload, or null. */
export async function findWorkload(db: Database | Transaction, id: string): Promise<Workload | null> {
  const row = await db.selectFrom('workloads').select(columns).where('id', '=', id).executeTakeFirst();
  return row ? toWorkload(row) : null;
}

/** Returns the workloads with these ids. */
export async function findWorkloads(
  db: Database | Transaction,
  ids: string[],
): Promise<Map<string, Workload>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('workloads').select(columns).where('id', 'in', ids).execute();
  return new Map(rows.map((row) => [row.id, toWorkload(row)]));
}

/** Transaction step: returns the workload, locked until the transaction ends, or null. */
export async function lockWorkload(tx: Transaction, id: string): Promise<Workload | null> {
  const row = await tx
    .selectFrom('workloads')
    .select(columns)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  return row ? toWorkload(row) : null;
}

/**
 * Returns the seconds of work that are left after a resume. A failed workload restarts from its last
 * checkpoint; a stopped one has saved all its work.
 */
export function secondsSaved({
  state,
  activeSeconds,
  savedSeconds,
}: Pick<Workload, 'state' | 'activeSeconds' | 'savedSeconds'>): number {
  return state === 'failed' ? savedSeconds : activeSeconds;
}

type Row = Selectable<WorkloadsTable>;

export type WorkloadColumns = Pick<Row, (typeof columns)[number]>;

/** base_url -> baseUrl */
type FieldName<Column extends string> = Column extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<FieldName<Rest>>}`
  : Column;

type Fields = { [Column in keyof WorkloadColumns as FieldName<Column>]: WorkloadColumns[Column] };

/** Converts a row of the table with these columns. */
export function toWorkload(row: WorkloadColumns): Workload {
  const named = columns.map((column) => [fieldNames.get(column), row[column]]);
  const { accelerator, acceleratorCount, ...fields }: Fields = Object.fromEntries(named);
  // Database checks or the engine guarantee the narrower types.
  const narrowed = fields as typeof fields & NarrowFields;
  return { ...narrowed, placement: { accelerator, count: acceleratorCount } as Placement };
}

/** Fields whose columns have a wider type. */
type NarrowFields = Pick<Workload, 'behaviour' | 'wanted' | 'state' | 'unit' | 'killedFor' | 'outcome'>;

/** Safe because only requestWorkload writes the column. */
export function toSpec(column: JsonValue): WorkloadSpec {
  return column as unknown as WorkloadSpec;
}
