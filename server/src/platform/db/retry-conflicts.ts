import { setTimeout as sleep } from 'node:timers/promises';
import { sqlStates } from '../postgres/sql-states.ts';

/** Errors of a transaction that had no effect and may run again. */
const RETRIED: string[] = [sqlStates.serializationFailure, sqlStates.deadlockDetected];
const RETRIES_MAX = 3;
const PAUSE_MS = 50;

/** Runs `work`, a whole transaction; retries at most three times if a conflict rolls it back. */
export async function retryConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await work();
    } catch (error) {
      if (retries === RETRIES_MAX || !isRetried(error)) throw error;
      // A random pause, so that the same two do not conflict again.
      await sleep(Math.random() * PAUSE_MS * 2 ** retries);
    }
  }
}

function isRetried(error: unknown): boolean {
  return error instanceof Error && 'code' in error && RETRIED.includes(String(error.code));
}
