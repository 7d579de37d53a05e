import type { BatchEndpoint } from '@bakehouse/contract/batches';
import { type Selectable, sql } from 'kysely';
import type { DB } from '../../platform/db/schema.generated.ts';
import type { LeasedTable } from '../../platform/leases/leased-table.ts';
import { turnOrder } from './answer-in-turns.ts';

type Columns = Selectable<DB['batches']>;

export type BatchRow = Omit<Columns, 'endpoint' | 'outcome' | 'metadata' | 'prices'> & {
  endpoint: BatchEndpoint;
  outcome: 'completed' | 'cancelled' | 'expired' | null;
  metadata: Record<string, string> | null;
  /** Micro-BGL as text, by the id of the replaced price. */
  prices: Record<string, string>;
};

/** Returns a typed row: the table's checks enforce the contract's values. */
export function toRow(columns: Columns): BatchRow {
  return columns as unknown as BatchRow;
}

const columns = [
  'id',
  'user_id',
  'key_id',
  'endpoint',
  'model',
  'input_asset_id',
  'metadata',
  'prices',
  'hold_id',
  'held_micro',
  'cost_micro',
  'total',
  'completed',
  'failed',
  'output_asset_id',
  'error_asset_id',
  'created_at',
  'begun_at',
  'cancelled_at',
  'expires_at',
  'ended_at',
  'outcome',
  'check_at',
  'lock_token',
  'locked_until',
] as const satisfies (keyof Columns)[];

/** Batches as leased work: one process holds a batch and answers its requests until it ends. */
export const batchesTable: LeasedTable<Columns, BatchRow> = {
  name: 'batches',
  columns,
  ...turnOrder('batches', sql<boolean>`ended_at is null`),
  toRow,
};
