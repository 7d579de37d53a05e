import { sql } from 'kysely';
import type { Database, Transaction } from './database.ts';

/** Runs reads on one snapshot of the database, so that the results of several queries are consistent. */
export async function readSnapshot<T>(db: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work);
}

/**
 * Like `readSnapshot`, but on several connections that share the snapshot, for reads that are too slow on one
 * core. `db` must have enough spare connections.
 */
export async function shareSnapshot<T>(
  db: Database,
  connections: number,
  work: (txs: Transaction[]) => Promise<T>,
): Promise<T> {
  return readSnapshot(db, async (first) => {
    const { rows } = await sql<{ id: string }>`select pg_export_snapshot() as id`.execute(first);
    const joinSnapshot = sql`set transaction snapshot ${sql.lit(rows[0]?.id)}`;
    const open = async (txs: Transaction[]): Promise<T> =>
      txs.length >= connections
        ? work(txs)
        : readSnapshot(db, async (next) => {
            await joinSnapshot.execute(next);
            return open([...txs, next]);
          });
    return open([first]);
  });
}
