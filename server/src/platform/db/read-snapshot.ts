import type { Database, Transaction } from './database.ts';

/**
 * Runs reads that belong together on the database as it is at one moment. For answers that are put
 * together from several queries: without it one may see what another is still to miss.
 */
export async function readSnapshot<T>(db: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only').execute(work);
}
