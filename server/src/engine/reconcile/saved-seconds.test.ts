import { createHash } from 'node:crypto';
import path from 'node:path';
import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import type { Context, WorkloadCaller } from '../../platform/context.ts';
import { openLocalBlobStore } from '../../platform/storage/local-blob-store.ts';
import { temporaryFolder } from '../../testing/temporary-folder.ts';
import type { Launch } from '../drivers/driver.ts';
import { createFakeDriver, idleUntilStopped } from '../drivers/fake/fake-driver.ts';
import { storeArtefact } from '../files/store-artefact.ts';
import type { Admission } from '../model/offer.ts';
import { resumeWorkload } from '../request-workload.ts';
import { testEngine } from '../testing/test-engine.ts';
import { testCluster } from '../testing/test-machine.ts';

const { db, clock, machineId, authenticate, engineOn, request, report, see, stop, pass } = await testEngine();
const clusterId = await testCluster(db);
const blobs = await openLocalBlobStore(path.join(await temporaryFolder(), 'blobs'));

beforeEach(async () => {
  await db.deleteFrom('workloads').execute();
  await sql`update machines set seen_at = null, offer = null`.execute(db);
});

/** A test machine with CPU slots, its launches, and passes of its engine. */
function place(id: string, admission: Admission) {
  const launches: Launch[] = [];
  const fake = createFakeDriver({
    capacity: { 'cpu:run': 1 },
    script: async (launch, process) => {
      launches.push(launch);
      return idleUntilStopped(launch, process);
    },
  });
  const driver = { ...fake, admission };
  return { driver, engine: engineOn(driver, { machineId: id }), launches };
}
const machine = () => place(machineId, 'slots');
const lookAgain = () => sql`update workloads set check_at = ${clock.now()}`.execute(db);

/** Uploads the last checkpoint, like the runtime. */
async function leave({ workloadId, server }: Launch, text: string) {
  const caller = await authenticate(workloadId, server.token);
  const ctx = { db, blobs, clock, caller } as unknown as Context<WorkloadCaller>;
  const bytes = Buffer.from(text);
  const raw = Object.assign(Readable.from([bytes]), { setTimeout: () => undefined });
  const headers = { 'x-content-sha256': createHash('sha256').update(bytes).digest('hex') };
  const params = { workloadId, '*': 'checkpoint.tar' };
  await storeArtefact(
    ctx,
    { params, query: undefined, body: undefined },
    { request: { raw, headers } as unknown as FastifyRequest },
  );
}

/** A run that has worked for 35 s. The server has a checkpoint of 20 s, and the machine has one of 30 s. */
async function workFor35Seconds(launch: Launch) {
  await report(launch, { type: 'progress', done: 0, total: 9, unit: 'steps', remaining_seconds: null });
  pass(20);
  await report(launch, { type: 'checkpoint', step: 1 });
  await leave(launch, 'first');
  pass(10);
  await report(launch, { type: 'checkpoint', step: 2 });
  pass(5);
  await report(launch);
  expect(await see(launch.workloadId)).toMatchObject({ activeSeconds: 35, savedSeconds: 30 });
}

test('a run that resumes in the cluster counts what it uploaded, and leaves nothing on the machine', async () => {
  const [oven, bakery] = [machine(), place(clusterId, 'driver')];
  await oven.engine.pass();
  const id = await request();
  await oven.engine.pass();
  await workFor35Seconds(oven.launches[0] as Launch);
  await oven.driver.kill(id, 1);
  await lookAgain();
  // Another run takes the machine during its pause.
  const other = await request();
  await oven.engine.pass();
  expect(await see(id)).toMatchObject({ state: 'queued', activeSeconds: 30, savedSeconds: 30 });
  expect(await see(other)).toMatchObject({ machineId, attempt: 1 });

  pass(10);
  await bakery.engine.pass();
  await bakery.engine.pass();
  expect(await see(id)).toMatchObject({
    machineId: clusterId,
    attempt: 2,
    activeSeconds: 20,
    savedSeconds: 20,
  });
  const next = bakery.launches[0] as Launch;
  expect(next.spec.inputs.at(-1)?.name).toBe('checkpoint');
  await report(next, { type: 'progress', done: 1, total: 9, unit: 'steps', remaining_seconds: null });
  pass(10);
  await report(next, { type: 'checkpoint', step: 2 });
  expect(await see(id)).toMatchObject({ activeSeconds: 30, savedSeconds: 30 });

  // The machine's own copy is outdated now, so the engine deletes it.
  await engineOn(oven.driver).pass();
  expect(await oven.driver.list()).toEqual([other]);
});

test('if the work folder is lost, only the work in the uploaded checkpoint counts', async () => {
  const oven = machine();
  await oven.engine.pass();
  const id = await request();
  await oven.engine.pass();
  await workFor35Seconds(oven.launches[0] as Launch);
  // The machine has lost the folder, as after a restore.
  await oven.driver.remove(id);
  await lookAgain();
  await oven.engine.pass();
  expect(await see(id)).toMatchObject({ state: 'queued', activeSeconds: 20, savedSeconds: 20 });
  pass(10);
  await oven.engine.pass();
  const next = oven.launches.at(-1) as Launch;
  expect(next.spec.inputs.at(-1)?.name).toBe('checkpoint');
  await report(next, { type: 'progress', done: 1, total: 9, unit: 'steps', remaining_seconds: null });
  pass(10);
  await report(next, { type: 'result', files: [], summary: {} });
  await oven.driver.stop(id, 2);
  await oven.engine.pass();
  // The ten seconds that were repeated are charged once.
  expect(await see(id)).toMatchObject({ state: 'completed', activeSeconds: 30 });
});

test.each<[string, (oven: ReturnType<typeof machine>, id: string) => Promise<unknown>, number]>([
  ['is killed before it has saved its work', (oven, id) => oven.driver.kill(id, 1), 30],
  ['has lost its work folder', (oven, id) => oven.driver.remove(id), 20],
])(
  'a stopped run that %s counts only what it can resume from, also after the resume',
  async (_case, end, seconds) => {
    const oven = machine();
    await oven.engine.pass();
    const id = await request();
    await oven.engine.pass();
    const launch = oven.launches[0] as Launch;
    await workFor35Seconds(launch);
    await stop(id);
    await end(oven, id);
    await oven.engine.pass();
    expect(await see(id)).toMatchObject({ state: 'stopped', activeSeconds: seconds, savedSeconds: seconds });
    await db.transaction().execute((tx) => resumeWorkload(tx, { id, now: clock.now() }));
    expect(await see(id)).toMatchObject({ state: 'queued', activeSeconds: seconds, savedSeconds: seconds });
  },
);

test('a run that is stopped before it could be restarted retains its saved work', async () => {
  const oven = machine();
  await oven.engine.pass();
  const id = await request();
  await oven.engine.pass();
  await workFor35Seconds(oven.launches[0] as Launch);
  await oven.driver.kill(id, 1);
  await lookAgain();
  await oven.engine.pass();
  pass(10);
  const start = async () => {
    throw new Error('no space left on device');
  };
  await engineOn({ ...oven.driver, start }).pass();
  expect(await see(id)).toMatchObject({ state: 'queued', attempt: 2 });
  await stop(id);
  await oven.engine.pass();
  expect(await see(id)).toMatchObject({ state: 'stopped', activeSeconds: 30, savedSeconds: 30 });
});
