import type { Database, Transaction } from '../db/database.ts';
import { claimDue, type LeasedTable, releaseLeased } from './leased-table.ts';
import { underLease } from './under-lease.ts';

/**
 * How one step is made for a row. Whatever one of these does may be done again: by whoever comes
 * after a process that died, or was too slow.
 */
export type StepHandlers<Row, Observed, Act, Done> = {
  /** Looks at what the row stands for, outside of any transaction. */
  observe: (row: Row) => Promise<Observed>;
  /**
   * Plans the next step on the row as it is now, and writes it. Answers with what has to be done
   * outside of the database; null: nothing.
   */
  apply: (tx: Transaction, row: Row, observed: Observed) => Promise<Act | null>;
  /** Does it, outside of any transaction. */
  act: (act: Act) => Promise<Done>;
  /** Writes what came of it. */
  record: (tx: Transaction, row: Row, act: Act, done: Done) => Promise<void>;
};

type Parts<Columns, Row> = {
  db: Database;
  table: LeasedTable<Columns, Row>;
  now: () => Date;
  /** Whether this process may still act; what is written and not done is found by whoever leases it next. */
  mayAct: () => boolean;
};

/**
 * Looks at the row that has been due longest, and makes the next step for it. False when none is due.
 *
 * The row is leased under a token. What is written, is written in transactions that first make sure
 * of the lease. Killed between any two of them, the lease runs out and whoever comes next sees the
 * same row and the same world. One who comes back after its lease has run out finds another token,
 * and writes nothing.
 */
export async function takeStep<Columns extends { id: string }, Row, Observed, Act, Done>(
  { db, table, now, mayAct }: Parts<Columns, Row>,
  handlers: StepHandlers<Row, Observed, Act, Done>,
): Promise<boolean> {
  const lease = await claimDue(db, table, now());
  if (!lease) return false;
  const observed = await handlers.observe(lease.row);
  const act = await underLease(db, table, lease, async (tx, row) => {
    const planned = await handlers.apply(tx, row, observed);
    // Kept until it is done, so that nobody else does it too.
    if (planned === null) await releaseLeased(tx, table, lease);
    return planned;
  });
  if (act === null || !mayAct()) return true;
  const done = await handlers.act(act);
  await underLease(db, table, lease, async (tx, row) => {
    await handlers.record(tx, row, act, done);
    await releaseLeased(tx, table, lease);
  });
  return true;
}
