import type { Database, Transaction } from '../db/database.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { type Lease, type LeasedTable, lockLeased } from './leased-table.ts';

/** Runs `work` on the current row, in a transaction, if the lease still holds; otherwise returns null. */
export async function underLease<Columns, Row, Result>(
  db: Database,
  table: LeasedTable<Columns, Row>,
  lease: Pick<Lease<Row>, 'id' | 'token'>,
  work: (tx: Transaction, row: Row) => Promise<Result>,
): Promise<Result | null> {
  return inTransaction(db, async (tx) => {
    const row = await lockLeased(tx, table, lease);
    return row ? work(tx, row) : null;
  });
}
