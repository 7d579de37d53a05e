import { setTimeout as sleep } from 'node:timers/promises';
import type { RawBuilder } from 'kysely';
import type pg from 'pg';
import { announceAfterCommit } from '../events/publish-change.ts';
import { sqlStates } from '../postgres/sql-states.ts';
import { connect, type Database, type Transaction } from './database.ts';

/** Errors after which the transaction had no effect and can be retried. */
const RETRIED: string[] = [sqlStates.serializationFailure, sqlStates.deadlockDetected];

const RETRIES_MAX = 3;
const PAUSE_MS = 50;

/**
 * Runs `work` in a transaction. If PostgreSQL rolls it back because of a conflict, runs `work` again, at most
 * three times. So its effects outside the transaction must be repeatable. Published events are announced
 * after the commit.
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

/**
 * Runs `work`, which is a whole transaction. Runs it again, at most three times, if PostgreSQL rolls it back
 * because of a conflict.
 */
async function retryConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await work();
    } catch (error) {
      if (retries === RETRIES_MAX || !isRetried(error)) throw error;
      // A random pause, so that the same two transactions do not conflict again.
      await sleep(Math.random() * PAUSE_MS * 2 ** retries);
    }
  }
}

function isRetried(error: unknown): boolean {
  return error instanceof Error && 'code' in error && RETRIED.includes(String(error.code));
}

/** Runs long `work` on its own connections without a time limit, so that it uses none that requests need. */
export async function withSeparateConnections<T>(
  url: string,
  count: number,
  work: (db: Database) => Promise<T>,
): Promise<T> {
  const db = connect(url, { poolSize: count });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}

/**
 * Runs one statement outside of transactions and returns its rows. PostgreSQL parses and plans it once per
 * connection, under `name`; statements of the query builder are planned at every call. For the first
 * statement of hot paths (0.13 ms instead of 0.8 ms for the key). Its text must be constant and name its
 * columns: `select *` would fail on open connections after a migration adds a column. Retries if PostgreSQL
 * cancelled it because of a conflict.
 */
export async function runPrepared<Row>(
  { db, pool }: { db: Database; pool: pg.Pool },
  name: string,
  statement: RawBuilder<Row>,
): Promise<Row[]> {
  const { sql: text, parameters } = statement.compile(db);
  const { rows } = await retryConflicts(() => pool.query({ name, text, values: [...parameters] }));
  return rows as Row[];
}
