import { announceAfterCommit } from '../events/publish-change.ts';
import type { Database, Transaction } from './database.ts';
import { retryConflicts } from './retry-conflicts.ts';

/**
 * Runs `work` in a transaction. If PostgreSQL rolls it back because of a conflict, it runs again, at most
 * three times: its effects outside the transaction must tolerate that. Published events are announced after
 * the commit.
 */
export async function inTransaction<T>(db: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return retryConflicts(() =>
    announceAfterCommit(db, (during) =>
      db.transaction().execute((tx) => {
        during(tx);
        return work(tx);
      }),
    ),
  );
}
