import type { DraftSettings, DropReason } from '@bakehouse/contract/drafts';
import { type Selectable, sql } from 'kysely';
import type { DB } from '../../platform/db/schema.generated.ts';
import type { LeasedTable } from '../../platform/leases/leased-table.ts';
import { turnOrder } from '../batches/answer-in-turns.ts';

type Columns = Selectable<DB['drafts']>;

export type DraftRow = Omit<Columns, 'settings' | 'prices' | 'dropped' | 'outcome'> & {
  settings: DraftSettings | null;
  /** Prices in micro-BGL as text, by price id. */
  prices: Record<string, string>;
  dropped: Partial<Record<DropReason, number>>;
  outcome: 'completed' | 'cancelled' | 'failed' | null;
};

/** Casts a row; the table's check constraints guarantee the contract's types. */
export function toRow(columns: Columns): DraftRow {
  return columns as unknown as DraftRow;
}

const columns = [
  'id',
  'user_id',
  'key_id',
  'created_at',
  'settings',
  'prices',
  'hold_id',
  'held_micro',
  'cost_micro',
  'charged_micro',
  'chunks',
  'chunks_done',
  'chunks_failed',
  'dropped',
  'error',
  'started_at',
  'cancelled_at',
  'expires_at',
  'ended_at',
  'outcome',
  'check_at',
  'lock_token',
  'locked_until',
] as const satisfies (keyof Columns)[];

/** Drafts as leased work: one process answers a draft's chunks until it has ended. */
export const draftsTable: LeasedTable<Columns, DraftRow> = {
  name: 'drafts',
  columns,
  ...turnOrder('drafts', sql<boolean>`started_at is not null and ended_at is null`),
  toRow,
};

/** True while the draft is being written. */
export function isRunning({ started_at: startedAt, ended_at: endedAt }: DraftRow): boolean {
  return startedAt !== null && endedAt === null;
}
