import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { temporaryFolder } from '../../../testing/temporary-folder.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { awaitOtherProcesses, migrate } from './migrate.ts';
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

test('a process notices a migration that it does not know', async () => {
  const heard = vi.fn();
  const quiet = vi.fn();
  const ends = [
    await watchMigrations(db, { onUnknown: heard, dir: await temporaryFolder() }),
    await watchMigrations(db, { onUnknown: quiet }),
  ];
  onFileEnd(async () => ends.forEach((end) => end()));
  await vi.waitFor(() => expect(heard).toHaveBeenCalledExactlyOnceWith('0001_baseline.sql'));
  expect(quiet).not.toHaveBeenCalled();
});
