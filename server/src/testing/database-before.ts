import { randomBytes } from 'node:crypto';
import { cp, mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { inject } from 'vitest';
import { createPool, type Database, openDatabase } from '../platform/db/database.ts';
import { MIGRATIONS_DIR, migrate } from '../platform/db/setup/migrate.ts';
import { onFileEnd } from './on-file-end.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { createDatabase, dropDatabase } from './temporary-postgres.ts';

/** A database as it was before the migration of this number: `migrate(url)` brings it to today. It closes when the test file ends. */
export async function databaseBefore(number: string): Promise<{ url: string; old: Database }> {
  const dir = path.join(await temporaryFolder(), 'migrations');
  await mkdir(dir);
  for (const name of await readdir(MIGRATIONS_DIR)) {
    if (name < number) await cp(path.join(MIGRATIONS_DIR, name), path.join(dir, name));
  }
  const name = `before_${randomBytes(6).toString('hex')}`;
  const url = await createDatabase(inject('postgresUrl'), name);
  const old = openDatabase(createPool(url));
  onFileEnd(async () => {
    await old.destroy();
    await dropDatabase(inject('postgresUrl'), name);
  });
  await migrate(url, dir);
  return { url, old };
}
