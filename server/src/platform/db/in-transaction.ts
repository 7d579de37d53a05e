import { setTimeout as sleep } from 'node:timers/promises';
import { announceAfterCommit } from '../events/publish-change.ts';
import type { Database, Transaction } from './database.ts';

/** serialization_failure and deadlock_detected: nothing is wrong with the work, and it has left nothing. */
const RETRIED = ['40001', '40P01'];
const RETRIES_MAX = 3;
const PAUSE_MS = 50;

/**
 * Runs `work` in a transaction. Where PostgreSQL ended it in favour of another one that it waited
 * for, it runs again, at most three times: what it does outside of the transaction must bear that. What it
 * publishes is announced after the commit.
 */
export async function inTransaction<T>(db: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await announceAfterCommit(db, (during) =>
        db.transaction().execute((tx) => {
          during(tx);
          return work(tx);
        }),
      );
    } catch (error) {
      if (retries === RETRIES_MAX || !isRetried(error)) throw error;
      // Those who met each other must not meet again.
      await sleep(Math.random() * PAUSE_MS * 2 ** retries);
    }
  }
}

function isRetried(error: unknown): boolean {
  return error instanceof Error && 'code' in error && RETRIED.includes(String(error.code));
}
