import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { readConfig } from '../../config.ts';
import type { Database } from '../../platform/db/database.ts';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { testCluster } from '../testing/test-machine.ts';
import { createHeartbeat } from './heartbeat-loop.ts';
import { joinInstallation } from './join-installation.ts';

const now = new Date();
const secret = 'only-for-tests-only-for-tests-only';

async function settings(more: Partial<ReturnType<typeof readConfig>> = {}) {
  return { ...readConfig({}), databaseUrl: 'x', secret, dataDir: await temporaryFolder(), ...more };
}

const machines = (db: Database) => db.selectFrom('machines').select(['id', 'holds_blobs']).execute();

test('the machine adopts the work of an earlier version, and all processes of its data folder belong to it', async () => {
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

  const config = await settings();
  const first = await joinInstallation(db, config, { runsWork: true, now });
  expect(first).toMatchObject({ isMachine: true });
  expect(await joinInstallation(db, config, { runsWork: false, now })).toEqual(first);
  expect(await machines(db)).toEqual([{ id: first.id, holds_blobs: true }]);
  // A cluster's row must not be mistaken for the machine.
  await testCluster(db);
  expect(await joinInstallation(db, config, { runsWork: true, now })).toEqual(first);

  const workloads = await db
    .selectFrom('workloads')
    .select(['attempt', 'machine_id'])
    .orderBy('attempt')
    .execute();
  expect(workloads).toEqual([
    { attempt: 0, machine_id: null },
    { attempt: 1, machine_id: first.id },
  ]);
});

test('another data folder is rejected with instructions, whatever its secret', async () => {
  const { db } = await testDatabase();
  const first = await joinInstallation(db, await settings(), { runsWork: true, now });
  for (const secretOfTheirs of [secret, 'another-one-another-one-another-one'])
    for (const runsWork of [true, false]) {
      const other = await settings({ secret: secretOfTheirs });
      const file = path.join(other.dataDir, 'machine');
      await db.updateTable('machines').set({ name: 'oven' }).execute();
      const refused = await joinInstallation(db, other, { runsWork, now }).catch(String);
      expect(refused).toMatch(
        /^Error: This installation already has a machine, oven: use its data folder, or /,
      );
      expect(refused).toContain(`moved into this data folder, write ${first.id} into ${file}.`);
      // Follow the instructions of the message. Another secret is accepted, because no other process is live.
      await writeFile(file, first.id);
      expect(await joinInstallation(db, other, { runsWork, now })).toMatchObject({ id: first.id });
    }
  expect(await machines(db)).toEqual([{ id: first.id, holds_blobs: true }]);
});

test('if two data folders start at the same time, one becomes the machine', async () => {
  const { db } = await testDatabase();
  const both = await Promise.allSettled(
    [await settings(), await settings()].map((config) =>
      joinInstallation(db, config, { runsWork: true, now }),
    ),
  );
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(await machines(db)).toHaveLength(1);
});

test('a data folder that lost its file `machine` stays the same machine if it contains the database', async () => {
  const { db } = await testDatabase();
  const config = await settings({ databaseUrl: undefined });
  const first = await joinInstallation(db, config, { runsWork: true, now });
  const file = path.join(config.dataDir, 'machine');
  expect((await readFile(file, 'utf8')).trim()).toBe(first.id);
  await rm(file);
  expect(await joinInstallation(db, config, { runsWork: true, now })).toEqual(first);
});

const s3 = {
  ...{ bucket: 'loaves', endpoint: null, prefix: '', region: null, pathStyle: false },
  ...{ links: false, cacheGb: 1 },
};
const aBlob = { sha256: 'a'.repeat(64), size_bytes: 1n };

test('if files are in a bucket, a process that runs no work belongs to no machine', async () => {
  const { db } = await testDatabase();
  const replica = await joinInstallation(db, await settings({ s3 }), { runsWork: false, now });
  expect(replica).toMatchObject({ isMachine: false });
  expect(await machines(db)).toEqual([]);

  const config = await settings({ s3 });
  const { id, isMachine } = await joinInstallation(db, config, { runsWork: true, now });
  expect(isMachine).toBe(true);
  expect(await machines(db)).toEqual([{ id, holds_blobs: false }]);
  await expect(joinInstallation(db, await settings({ s3 }), { runsWork: true, now })).rejects.toThrow(
    'already has a machine',
  );
  expect(await joinInstallation(db, await settings({ s3 }), { runsWork: false, now })).toMatchObject({
    isMachine: false,
  });
});

test("other processes cannot join while the machine's folder still contains files", async () => {
  const { db } = await testDatabase();
  const config = await settings({ s3 });
  const folder = path.join(config.dataDir, 'blobs', 'aa');
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'a'), 'bytes');
  const { id } = await joinInstallation(db, config, { runsWork: true, now });
  expect(await machines(db)).toEqual([{ id, holds_blobs: true }]);
  const others = await settings({ s3 });
  await expect(joinInstallation(db, others, { runsWork: false, now })).rejects.toThrow(
    /are still stored on .*blobs move/,
  );
  // The files are moved, and the machine's server is restarted.
  await rm(folder, { recursive: true });
  await joinInstallation(db, config, { runsWork: true, now });
  expect(await machines(db)).toEqual([{ id, holds_blobs: false }]);
  expect(await joinInstallation(db, others, { runsWork: false, now })).toMatchObject({ isMachine: false });
});

test('a process without the bucket setting of the others is rejected: the files are not in its data folder', async () => {
  const { db } = await testDatabase();
  const config = await settings({ s3 });
  await joinInstallation(db, config, { runsWork: true, now });
  await db.insertInto('blobs').values(aBlob).execute();
  for (const dataDir of [config.dataDir, await temporaryFolder()])
    await expect(joinInstallation(db, await settings({ dataDir }), { runsWork: true, now })).rejects.toThrow(
      /are in a bucket.*set BAKEHOUSE_S3_BUCKET/,
    );
});

test('live processes on one bucket must have the same secret', async () => {
  const { db } = await testDatabase();
  const config = await settings({ s3 });
  const first = await joinInstallation(db, config, { runsWork: true, now });
  const heartbeat = createHeartbeat({
    ...{ db, log: pino({ level: 'silent' }), machineId: first.id, roles: ['reconciler'] },
    secretCheck: first.secretCheck,
  });
  onFileEnd(heartbeat.close);
  await heartbeat.beat();
  const changed = { secret: 'another-one-another-one-another-one' };
  const replica = await settings({ s3, ...changed });
  const both = [
    () => joinInstallation(db, { ...config, ...changed }, { runsWork: true, now }),
    () => joinInstallation(db, replica, { runsWork: false, now }),
  ];
  for (const join of both)
    await expect(join()).rejects.toThrow(/secret differs from the secret of the other processes/);
  // After the last process has ended, a lost secret only ends sessions.
  await heartbeat.close();
  for (const join of both) await join();
});
