import { announceAfterCommit } from '../events/publish-change.ts';
import type { Database, Transaction } from './database.ts';
import { retryConflicts } from './retry-conflicts.ts';

/**
 * Runs `work` in a transaction. Where PostgreSQL ended it in favour of another one that it waited
 * for, it runs again, at most three times: what it does outside of the transaction must bear that. What it
 * publishes is announced after the commit.
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
