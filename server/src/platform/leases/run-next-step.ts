import type { Database, Transaction } from '../db/database.ts';
import { underLease } from './hold-lease.ts';
import { claimDue, type LeasedTable, releaseLeased } from './leased-table.ts';

/** Handlers of one step. Each one may run again in another process, if this one dies or is too slow. */
export type StepHandlers<Row, Observed, Act, Done> = {
  /** Observes what the row describes, such as a process. Runs outside of any transaction. */
  observe: (row: Row) => Promise<Observed>;
  /** Plans and writes the next step. Returns the action to execute outside of the database, or null. */
  apply: (tx: Transaction, row: Row, observed: Observed) => Promise<Act | null>;
  /** Executes the action, outside of any transaction. */
  act: (act: Act) => Promise<Done>;
  /** Writes the result of the action. */
  record: (tx: Transaction, row: Row, act: Act, done: Done) => Promise<void>;
};

type Parts<Columns, Row> = {
  db: Database;
  table: LeasedTable<Columns, Row>;
  now: () => Date;
  /** Returns true if this process may still execute actions. Otherwise the next lease holder continues. */
  mayAct: () => boolean;
};

/**
 * Makes the next step of the row that has been due longest. Returns false if no row is due.
 *
 * The row is leased under a token, and every transaction first checks the lease. If the process is killed
 * between two transactions, the lease expires, and the next process continues from the same state. If a
 * process continues after its lease has expired, it finds another token and writes nothing.
 */
export async function runNextStep<Columns extends { id: string }, Row, Observed, Act, Done>(
  { db, table, now, mayAct }: Parts<Columns, Row>,
  handlers: StepHandlers<Row, Observed, Act, Done>,
): Promise<boolean> {
  const lease = await claimDue(db, table, now());
  if (!lease) return false;
  const observed = await handlers.observe(lease.row);
  const act = await underLease(db, table, lease, async (tx, row) => {
    const planned = await handlers.apply(tx, row, observed);
    // With an action, keep the lease until the action is done, so that no other process repeats it.
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
