import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type pg from 'pg';
import { expect, inject, vi } from 'vitest';
import { createPool, type Database, openDatabase } from '../platform/db/database.ts';
import { onFileEnd } from './on-file-end.ts';
import { createDatabase, dropDatabase } from './temporary-postgres.ts';

export type TestDatabase = { db: Database; pool: pg.Pool; url: string; close: () => Promise<void> };

/**
 * Creates an empty, migrated database on a real PostgreSQL. It is closed when the test file ends. May be
 * called at the top of the file, in a hook or in a test.
 */
export async function testDatabase(): Promise<TestDatabase> {
  const server = inject('postgresUrl');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const url = await createDatabase(server, name, inject('templateDatabase'));
  const pool = createPool(url);
  const db = openDatabase(pool);
  const close = onFileEnd(async () => {
    await db.destroy();
    await dropDatabase(server, name);
  });
  return { db, pool, url, close };
}

/** Resolves once this many connections to the database wait for a lock. */
export async function untilWaiting(db: Database, connections = 1): Promise<void> {
  const count = async () => {
    const { rows } = await sql<{ waiting: number }>`select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    return rows[0]?.waiting;
  };
  await vi.waitFor(async () => expect(await count()).toBeGreaterThanOrEqual(connections));
}
