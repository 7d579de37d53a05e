import type { RawBuilder } from 'kysely';
import type pg from 'pg';
import type { Database } from './database.ts';
import { retryConflicts } from './retry-conflicts.ts';

/**
 * Runs one statement outside of transactions and answers its rows. PostgreSQL parses and plans it
 * once per connection, under `name`; the query builder's own statements are planned anew at every
 * call. For what every request of a hot path begins with (0.13 ms against 0.8 ms for the key).
 * Its text must always be the same, and name its columns: `select *` from a table would fail on
 * connections that are open while a migration adds one. Where PostgreSQL ended it in favour of another one, it runs again.
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
