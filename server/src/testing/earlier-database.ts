import { randomBytes } from 'node:crypto';
import { cp, readdir } from 'node:fs/promises';
import path from 'node:path';
import { inject } from 'vitest';
import { connect, type Database } from '../platform/db/database.ts';
import { MIGRATIONS_DIR, migrate } from '../platform/db/setup/migrate.ts';
import { onFileEnd } from './on-file-end.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { createDatabase, dropDatabase } from './temporary-postgres.ts';

type EarlierDatabase = { url: string; db: Database; upgrade: () => Promise<unknown> };

/**
 * For tests of a migration: returns a database with all migrations before `step`. `upgrade` applies the
 * others. The database is dropped when the test file ends.
 */
export async function earlierDatabase(
  step: string,
  options?: { withFunctions?: boolean },
): Promise<EarlierDatabase> {
  const server = inject('postgresUrl');
  const name = `earlier_${randomBytes(6).toString('hex')}`;
  const url = await createDatabase(server, name);
  const db = connect(url);
  onFileEnd(async () => {
    await db.destroy();
    await dropDatabase(server, name);
  });
  await migrateBefore(url, step, options);
  return { url, db, upgrade: () => migrate(url) };
}

/** Applies the migrations before `step`. Applies functions and triggers only if `withFunctions` is set. */
export async function migrateBefore(
  url: string,
  step: string,
  { withFunctions = false } = {},
): Promise<void> {
  const dir = await temporaryFolder();
  const steps = (await readdir(MIGRATIONS_DIR)).filter((file) => file.endsWith('.sql') && file < step);
  for (const file of [...steps, ...(withFunctions ? ['functions'] : [])])
    await cp(path.join(MIGRATIONS_DIR, file), path.join(dir, file), { recursive: true });
  await migrate(url, dir);
}
