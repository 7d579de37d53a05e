import { type Selectable, sql } from 'kysely';
import type { DB } from '../../platform/db/schema.generated.ts';
import type { LeasedTable } from '../../platform/leases/leased-table.ts';
import { inTurns } from '../batches/answer-in-turns.ts';

type Columns = Selectable<DB['judgements']>;

export type JudgementRow = Omit<Columns, 'prices' | 'outcome'> & {
  /** Micro-BGL as text, by the id of the price that each stands in for. */
  prices: Record<string, string>;
  outcome: 'completed' | 'cancelled' | 'failed' | null;
};

/** A row by its words: the checks of the table keep them to those of the contract. */
export function toRow(columns: Columns): JudgementRow {
  return columns as unknown as JudgementRow;
}

const columns = [
  'id',
  'run_id',
  'user_id',
  'model',
  'prompt',
  'prices',
  'hold_id',
  'held_micro',
  'cost_micro',
  'charged_micro',
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

/** Judgements as work that is leased: one process asks the judge until it has ended. */
export const judgementsTable: LeasedTable<Columns, JudgementRow> = {
  name: 'judgements',
  columns,
  ...inTurns('judgements', sql<boolean>`ended_at is null`),
  toRow,
};
