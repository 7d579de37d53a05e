import { type Selectable, sql } from 'kysely';
import type { DB } from '../../../platform/db/schema.generated.ts';
import type { LeasedTable } from '../../../platform/leases/leased-table.ts';
import { type GenerationRow, toRow } from '../queries.ts';

type Columns = Selectable<DB['generations']>;

const columns = [
  'id',
  'user_id',
  'key_id',
  'generator',
  'provider',
  'model',
  'queue',
  'revision_id',
  'lora_revision_id',
  'prompt',
  'parameters',
  'seed',
  'source_generation_id',
  'source_output_id',
  'root_generation_id',
  'request_sha256',
  'state',
  'reason',
  'refused',
  'step',
  'steps',
  'details',
  'hold_id',
  'held_micro',
  'charged_micro',
  'upstream_job',
  'asked',
  'attempt',
  'check_at',
  'left_at',
  'process_id',
  'lock_token',
  'locked_until',
  'created_at',
  'started_at',
  'ended_at',
] as const satisfies (keyof Columns)[];

/** Generations as leased work: a process holds the lease while it runs one. */
export const generationsTable: LeasedTable<Columns, GenerationRow> = {
  name: 'generations',
  columns,
  due: sql<boolean>`ended_at is null`,
  toRow,
};
