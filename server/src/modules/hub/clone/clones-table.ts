import type { Clone, CloneState } from '@bakehouse/contract/hub/clones';
import { type Selectable, sql } from 'kysely';
import type { DB } from '../../../platform/db/schema.generated.ts';
import type { LeasedTable } from '../../../platform/leases/leased-table.ts';
import type { Repo } from '../public/hub-client.ts';

type Columns = Selectable<DB['hub_clones']>;

export type CloneRow = Omit<Columns, 'state' | 'dataset_type'> & {
  state: CloneState;
  dataset_type: Clone['dataset_type'];
};

/** Casts a row; the table's check constraints guarantee the contract's types. */
export function toRow(columns: Columns): CloneRow {
  return columns as unknown as CloneRow;
}

export function repoOf({
  repo_id: id,
  dataset_type: type,
}: Pick<CloneRow, 'repo_id' | 'dataset_type'>): Repo {
  return { id, type: type === 'MODEL' ? 'model' : 'dataset' };
}

const columns = [
  'id',
  'user_id',
  'repo_id',
  'dataset_type',
  'commit_id',
  'state',
  'reason',
  'files_total',
  'bytes_total',
  'files_done',
  'bytes_done',
  'bytes_per_second',
  'asset_id',
  'attempt',
  'check_at',
  'lock_token',
  'locked_until',
  'created_at',
  'started_at',
  'ended_at',
] as const satisfies (keyof Columns)[];

/** Clones as leased work: a process holds the lease while it copies one. */
export const clonesTable: LeasedTable<Columns, CloneRow> = {
  name: 'hub_clones',
  columns,
  due: sql<boolean>`ended_at is null`,
  toRow,
};
