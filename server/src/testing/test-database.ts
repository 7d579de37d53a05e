import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { inject } from 'vitest';
import { createPool, type Database, openDatabase } from '../platform/db/database.ts';
import { onFileEnd } from './on-file-end.ts';
import { createDatabase, dropDatabase } from './temporary-postgres.ts';

export type TestDatabase = { db: Database; pool: pg.Pool; url: string; close: () => Promise<void> };

/**
 * A migrated, empty database of this test's own on a real PostgreSQL. It closes by itself when
 * the test file ends; call it at the top of the file, in a hook or in a test.
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
