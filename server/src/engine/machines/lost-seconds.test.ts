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
import { resumeWorkload } from '../resume-workload.ts';
import { testEngine } from '../testing/test-engine.ts';
import { testMachine, testSilence } from '../testing/test-machine.ts';
import { requeueLost } from './requeue-lost.ts';

const { db, clock, log, kinds, machineId, authenticate, engineOn, request, report, see, stop, pass } =
  await testEngine();
const otherId = await testMachine(db, 'second oven');
const blobs = await openLocalBlobStore(path.join(await temporaryFolder(), 'blobs'));

beforeEach(async () => {
  await db.deleteFrom('workloads').execute();
  await db.deleteFrom('processes').execute();
  await sql`update machines set seen_at = null, offer = null`.execute(db);
});

function machine(id: string) {
  const launches: Launch[] = [];
  const driver = createFakeDriver({
    capacity: { 'cpu:run': 1 },
    script: async (launch, process) => {
      launches.push(launch);
      return idleUntilStopped(launch, process);
    },
  });
  return { driver, engine: engineOn(driver, { machineId: id }), launches };
}

/** The machine is silent for a minute, and its workloads are given to others. */
async function lose(id: string) {
  pass(61);
  await testSilence(db, id, { watcherId: machineId });
  await requeueLost({ db, kinds, log, now: clock.now, machineId, lostAfterMs: 60_000 }, [id]);
}

/** Leaves the last checkpoint on the server, as the runtime does. */
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

/** A run that has worked for 35 s: 20 are saved on the server, 30 on its machine. */
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

test('a run that is taken from a machine counts what the checkpoint has saved that it goes on from', async () => {
  const [one, two] = [machine(machineId), machine(otherId)];
  await two.engine.pass();
  const id = await request();
  await two.engine.pass();
  await workFor35Seconds(two.launches[0] as Launch);
  await lose(otherId);
  expect(await see(id)).toMatchObject({ machineId: null, activeSeconds: 20, savedSeconds: 20 });

  await one.engine.pass();
  await one.engine.pass();
  expect(one.launches[0]?.spec.inputs.at(-1)?.name).toBe('checkpoint');
  const next = one.launches[0] as Launch;
  await report(next, { type: 'progress', done: 1, total: 9, unit: 'steps', remaining_seconds: null });
  pass(10);
  await report(next, { type: 'checkpoint', step: 2 });
  expect(await see(id)).toMatchObject({ machineId, activeSeconds: 30, savedSeconds: 30 });

  // Nothing has left this one: it falls back to the same checkpoint.
  await lose(machineId);
  expect(await see(id)).toMatchObject({ activeSeconds: 20, savedSeconds: 20 });
  // What the first one still has of it is older than that, and goes before it is started there again.
  const removed: string[] = [];
  const remove = async (name: string) => {
    removed.push(name);
    await two.driver.remove(name);
  };
  await engineOn({ ...two.driver, remove }, { machineId: otherId }).pass();
  expect(removed).toEqual([id]);
  expect(await see(id)).toMatchObject({ machineId: otherId, activeSeconds: 20 });
});

test('one that comes back to its machine goes on from what was saved there, and counts that', async () => {
  const two = machine(otherId);
  await two.engine.pass();
  const id = await request();
  await two.engine.pass();
  await workFor35Seconds(two.launches[0] as Launch);
  await lose(otherId);
  expect(await see(id)).toMatchObject({ machineId: null, activeSeconds: 20 });
  await two.engine.pass();
  expect(await see(id)).toMatchObject({ machineId: otherId, activeSeconds: 30, savedSeconds: 30 });
});

test('where the work folder is lost and the machine is not, what the checkpoint on the server has saved is counted', async () => {
  const two = machine(otherId);
  await two.engine.pass();
  const id = await request();
  await two.engine.pass();
  await workFor35Seconds(two.launches[0] as Launch);
  // As after a restore: the machine knows nothing of it.
  await two.driver.remove(id);
  await sql`update workloads set check_at = ${clock.now()}`.execute(db);
  await two.engine.pass();
  expect(await see(id)).toMatchObject({ state: 'queued', activeSeconds: 20, savedSeconds: 20 });
  pass(10);
  await two.engine.pass();
  const next = two.launches.at(-1) as Launch;
  expect(next.spec.inputs.at(-1)?.name).toBe('checkpoint');
  await report(next, { type: 'progress', done: 1, total: 9, unit: 'steps', remaining_seconds: null });
  pass(10);
  await report(next, { type: 'result', files: [], summary: {} });
  await two.driver.stop(id, 2);
  await two.engine.pass();
  // The ten seconds that were done twice are charged once.
  expect(await see(id)).toMatchObject({ state: 'completed', activeSeconds: 30 });
});

test('one that its owner resumed counts no more than what it goes on from: the rest is done again', async () => {
  const two = machine(otherId);
  await two.engine.pass();
  const id = await request();
  await two.engine.pass();
  const launch = two.launches[0] as Launch;
  await workFor35Seconds(launch);
  await stop(id);
  await report(launch, { type: 'stopped', step: 3 });
  await two.driver.stop(id, 1);
  await two.engine.pass();
  expect(await see(id)).toMatchObject({ state: 'stopped', activeSeconds: 35 });
  await db.transaction().execute((tx) => resumeWorkload(tx, { id, now: clock.now() }));
  await lose(otherId);
  expect(await see(id)).toMatchObject({ machineId: null, activeSeconds: 20, savedSeconds: 20 });
});

test.each<[string, (two: ReturnType<typeof machine>, id: string) => Promise<unknown>, number]>([
  ['is killed before it has saved its work', (two, id) => two.driver.kill(id, 1), 30],
  ['has lost its work folder', (two, id) => two.driver.remove(id), 20],
  ['is on a machine that is gone', () => lose(otherId), 20],
])(
  'one that is stopped and %s counts what it can go on from, and no more when it does',
  async (_case, end, seconds) => {
    const two = machine(otherId);
    await two.engine.pass();
    const id = await request();
    await two.engine.pass();
    const launch = two.launches[0] as Launch;
    await workFor35Seconds(launch);
    await stop(id);
    await end(two, id);
    await two.engine.pass();
    expect(await see(id)).toMatchObject({ state: 'stopped', activeSeconds: seconds, savedSeconds: seconds });
    await db.transaction().execute((tx) => resumeWorkload(tx, { id, now: clock.now() }));
    expect(await see(id)).toMatchObject({ state: 'queued', activeSeconds: seconds, savedSeconds: seconds });
  },
);

test('one that is stopped where it could not be started again keeps what it has saved', async () => {
  const two = machine(otherId);
  await two.engine.pass();
  const id = await request();
  await two.engine.pass();
  await workFor35Seconds(two.launches[0] as Launch);
  await two.driver.kill(id, 1);
  await sql`update workloads set check_at = ${clock.now()}`.execute(db);
  await two.engine.pass();
  pass(10);
  const start = async () => {
    throw new Error('no space left on device');
  };
  await engineOn({ ...two.driver, start }, { machineId: otherId }).pass();
  expect(await see(id)).toMatchObject({ state: 'queued', attempt: 2 });
  await stop(id);
  await two.engine.pass();
  expect(await see(id)).toMatchObject({ state: 'stopped', activeSeconds: 30, savedSeconds: 30 });
});
