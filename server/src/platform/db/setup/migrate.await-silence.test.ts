import { cp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { CompiledQuery } from 'kysely';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { awaitOtherProcesses, MIGRATIONS_DIR, migrate, readMigrations } from './migrate.ts';
import { watchMigrations } from './watch-migrations.ts';

const { db, url } = await testDatabase();
const client = new pg.Client({ connectionString: url });
await client.connect();
onFileEnd(() => client.end());
await client.query(`
  insert into machines (id, name, host, driver, holds_blobs, started_at)
  values ('00000000-0000-4000-8000-000000000001', 'oven', '127.0.0.1', 'fake', true, now())`);
const run = (roles: string, seen: string, left = 'null') =>
  client.query(`
    delete from processes;
    insert into processes (id, machine_id, roles, since, seen_at, left_at)
    values (gen_random_uuid(), '00000000-0000-4000-8000-000000000001', '${roles}', now(), ${seen}, ${left})`);

test('names running processes, and does not wait for processes that have ended or stopped sending heartbeats', async () => {
  await run('{web,worker}', "now() + interval '1 hour'");
  await expect(awaitOtherProcesses(client, 0)).rejects.toThrow(
    'processes of another version still use it: web+worker on oven. Stop them, then start again',
  );
  await run('{web,worker}', 'now()', 'now()');
  await awaitOtherProcesses(client, 0);
  // Like a process that was killed 9 seconds ago.
  await run('{web}', "now() - interval '9 seconds'");
  await awaitOtherProcesses(client);
});

test('does not wait for other processes if there is nothing to migrate', async () => {
  await run('{web}', "now() + interval '1 hour'");
  expect(await migrate(url)).toEqual([]);
});

test('applies steps that only add while the previous version runs, which can also start again', async () => {
  const dir = await temporaryFolder();
  await cp(MIGRATIONS_DIR, dir, { recursive: true });
  await run('{web}', "now() + interval '1 hour'");
  await writeFile(path.join(dir, '9999_more.sql'), '-- expand\nalter table processes add column more int;');
  expect(await migrate(url, dir)).toEqual(['9999_more.sql']);
  expect(await migrate(url)).toEqual([]);
});

test('a process notices a migration that it does not know, unless it only adds', async () => {
  await db.executeQuery(
    CompiledQuery.raw("update schema_migrations set expands = true where name = '0001_baseline.sql'"),
  );
  const second = (await readMigrations()).steps[1]?.name;
  const heard = vi.fn();
  const quiet = vi.fn();
  const ends = [
    await watchMigrations(db, { onUnknown: heard, dir: await temporaryFolder() }),
    await watchMigrations(db, { onUnknown: quiet }),
  ];
  onFileEnd(async () => ends.forEach((end) => end()));
  await vi.waitFor(() => expect(heard).toHaveBeenCalledExactlyOnceWith(second));
  expect(quiet).not.toHaveBeenCalled();
});
