import type { BatchEndpoint } from '@bakehouse/contract/batches';
import type { DraftSettings, DropReason } from '@bakehouse/contract/drafts';
import { type Selectable, sql, type Updateable } from 'kysely';
import type { DB } from '../../platform/db/schema.generated.ts';
import type { LeasedTable } from '../../platform/leases/leased-table.ts';

export type BulkColumns = Selectable<DB['bulk_answers']>;
export type BulkChanges = Updateable<DB['bulk_answers']>;

/** Columns with narrower types, which the table's constraints and the contract guarantee. */
type Typed<Columns> = Omit<BulkColumns, keyof Columns | 'prices'> &
  Columns & {
    /** The agreed prices in micro-BGL, as text, by the id of the price that each replaces. */
    prices: Record<string, string>;
  };

export type BatchRow = Typed<{
  kind: 'batch';
  endpoint: BatchEndpoint;
  model: string;
  input_asset_id: string;
  metadata: Record<string, string> | null;
  expires_at: Date;
  outcome: 'completed' | 'cancelled' | 'expired' | null;
}>;

export type DraftRow = Typed<{
  kind: 'draft';
  settings: DraftSettings | null;
  dropped: Partial<Record<DropReason, number>>;
  outcome: 'completed' | 'cancelled' | 'failed' | null;
}>;

export type BulkRow = BatchRow | DraftRow;
export type BulkKind = BulkRow['kind'];
export type RowOf<Kind extends BulkKind> = Extract<BulkRow, { kind: Kind }>;

/** Returns a typed row: the table's checks enforce the contract's values. */
export function toRow(columns: BulkColumns): BulkRow {
  return columns as unknown as BulkRow;
}

const columns = [
  ...(['id', 'kind', 'user_id', 'key_id', 'created_at', 'prices', 'hold_id', 'held_micro'] as const),
  ...(['cost_micro', 'charged_micro', 'total', 'completed', 'failed', 'error'] as const),
  ...(['started_at', 'cancelled_at', 'expires_at', 'ended_at', 'outcome'] as const),
  ...(['check_at', 'lock_token', 'locked_until'] as const),
  ...(['endpoint', 'model', 'input_asset_id', 'metadata', 'begun_at'] as const),
  ...(['output_asset_id', 'error_asset_id', 'settings', 'dropped'] as const),
] satisfies (keyof BulkColumns)[];

export const running = sql<boolean>`started_at is not null and ended_at is null`;

/**
 * Batches and drafts as leased work. Users take turns: the row of the user who has waited longest comes
 * first.
 */
export const bulkTable: LeasedTable<BulkColumns, BulkRow> = {
  name: 'bulk_answers',
  columns,
  due: running,
  lookAgainMs: sql<number>`0`,
  order: sql`(select max(check_at) from bulk_answers other
    where other.user_id = bulk_answers.user_id and ${running}), check_at`,
  toRow,
};

export function isRunning({ started_at: startedAt, ended_at: endedAt }: BulkRow): boolean {
  return startedAt !== null && endedAt === null;
}
