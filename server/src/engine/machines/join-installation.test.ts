import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../../config.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { joinInstallation } from './join-installation.ts';

const now = new Date();
const secret = 'only-for-tests-only-for-tests-only';

async function settings(more: Partial<ReturnType<typeof readConfig>> = {}) {
  return { ...readConfig({}), databaseUrl: 'x', secret, dataDir: await temporaryFolder(), ...more };
}

test('the first machine holds the files and takes what an earlier version has left; others join', async () => {
  const { db } = await testDatabase();
  const common = { behaviour: 'run', kind: 'test', title: 'x', spec: '{}', accelerator_count: 0 } as const;
  const times = { check_at: now, created_at: now, queued_at: now, not_before: now };
  await db
    .insertInto('workloads')
    .values([
      { ...common, ...times, attempt: 1, state: 'ready' },
      { ...common, ...times },
    ])
    .execute();
  await db
    .insertInto('preparations')
    .values({ id: 'training', state: 'ready', detail: '', updated_at: now })
    .execute();

  const config = await settings();
  const first = await joinInstallation(db, config, { runsWork: true, now });
  expect(first).toMatchObject({ holdsBlobs: true });
  const second = await joinInstallation(db, await settings(), { runsWork: true, now });
  expect(second).toMatchObject({ holdsBlobs: false });
  expect(second.id).not.toBe(first.id);
  expect(await joinInstallation(db, config, { runsWork: false, now })).toEqual(first);

  const workloads = await db
    .selectFrom('workloads')
    .select(['attempt', 'machine_id'])
    .orderBy('attempt')
    .execute();
  expect(workloads).toEqual([
    { attempt: 0, machine_id: null },
    { attempt: 1, machine_id: first.id },
  ]);
  expect(await db.selectFrom('preparations').select('machine_id').execute()).toEqual([
    { machine_id: first.id },
  ]);
});

test('a machine with another secret is refused in one sentence; the one with the files may lose its own', async () => {
  const { db } = await testDatabase();
  const config = await settings();
  await joinInstallation(db, config, { runsWork: true, now });
  const other = await settings({ secret: 'another-one-another-one-another-one' });
  await expect(joinInstallation(db, other, { runsWork: true, now })).rejects.toThrow(
    /set BAKEHOUSE_SECRET to the same/,
  );
  const changed = { ...config, secret: other.secret };
  expect(await joinInstallation(db, changed, { runsWork: true, now })).toMatchObject({ holdsBlobs: true });
  expect(await joinInstallation(db, other, { runsWork: true, now })).toMatchObject({ holdsBlobs: false });
});

test('a data folder that lost its file is the same machine where its database lies in it', async () => {
  const { db } = await testDatabase();
  const config = await settings({ databaseUrl: undefined });
  const first = await joinInstallation(db, config, { runsWork: true, now });
  const file = path.join(config.dataDir, 'machine');
  expect((await readFile(file, 'utf8')).trim()).toBe(first.id);
  await rm(file);
  expect(await joinInstallation(db, config, { runsWork: true, now })).toEqual(first);
});

test('a machine on another computer has to be reachable, and so has the one that holds the files', async () => {
  const { db } = await testDatabase();
  const first = await joinInstallation(db, await settings(), { runsWork: true, now });
  // On the same computer any address will do.
  expect(await joinInstallation(db, await settings(), { runsWork: true, now })).toMatchObject({
    holdsBlobs: false,
  });
  const isElsewhere = { name: 'oven', host: '127.0.0.1' };
  await db.updateTable('machines').set(isElsewhere).where('id', '=', first.id).execute();

  const config = await settings();
  const join = (machineHost: string) =>
    joinInstallation(db, { ...config, machineHost }, { runsWork: true, now });
  const ifMoved = `write ${first.id} into ${path.join(config.dataDir, 'machine')}.`;
  await expect(join('127.0.0.1')).rejects.toThrow(/set BAKEHOUSE_MACHINE_HOST to the address at which oven/);
  await expect(join('localhost')).rejects.toThrow(ifMoved);
  await expect(join('10.0.0.2')).rejects.toThrow(
    /^oven, which holds the files .*does not answer other machines/,
  );
  await db.updateTable('machines').set({ host: '10.0.0.1' }).where('id', '=', first.id).execute();
  expect(await join('10.0.0.2')).toMatchObject({ holdsBlobs: false });
});
