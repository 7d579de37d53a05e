import type { Report } from '@bakehouse/contract/runtime/report';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { WorkloadCaller } from '../../platform/context.ts';
import type { Launch } from '../drivers/driver.ts';
import { createFakeDriver, idleUntilStopped } from '../drivers/fake/fake-driver.ts';
import { selectArtefacts, upsertArtefact } from '../files/file-queries.ts';
import { acceptReports } from '../reports/accept-reports.ts';
import { complete, testEngine } from '../testing/test-engine.ts';
import { testMachine, testSilence } from '../testing/test-machine.ts';
import { findLostMachines } from './find-lost-machines.ts';
import { readMachines } from './read-machines.ts';
import { requeueLost } from './requeue-lost.ts';

const { db, clock, log, kinds, machineId, authenticate, engineOn, request, report, see, stop, pass } =
  await testEngine();
const otherId = await testMachine(db, 'second oven');
const parts = { db, kinds, log, now: clock.now, machineId, lostAfterMs: 60_000 };

beforeEach(async () => {
  await db.deleteFrom('workloads').execute();
  await db.deleteFrom('processes').execute();
  await sql`update machines set seen_at = null, offer = null`.execute(db);
});

/** One machine with a slot, what was started there, and how its server passes. */
function machine(id: string) {
  const launches: Launch[] = [];
  const fake = createFakeDriver({
    capacity: { 'cpu:run': 1, 'cpu:deployment': 1 },
    script: async (launch, process) => {
      launches.push(launch);
      return idleUntilStopped(launch, process);
    },
  });
  return { driver: fake, engine: engineOn(fake, { machineId: id }), launches };
}
/** For a minute nobody has seen the machine's server; nor have its workloads reported, unless they do so after this. */
const goes = async (id: string, watched?: number) => {
  pass(61);
  await testSilence(db, id, { watcherId: machineId, watched });
};
/** The workload's last checkpoint leaves its machine. */
async function leaveCheckpoint(id: string) {
  const sha256 = 'a'.repeat(64);
  await sql`insert into blobs (sha256, size_bytes) values (${sha256}, 1) on conflict do nothing`.execute(db);
  const artefact = { path: 'checkpoint.tar', sha256, sizeBytes: 1 };
  await db.transaction().execute((tx) => upsertArtefact(tx, id, artefact));
}
const giveUp = async () => requeueLost(parts, await findLostMachines(db, parts));

describe('two machines on one database', () => {
  test('share the queue, and each looks after its own', async () => {
    const [one, two] = [machine(machineId), machine(otherId)];
    await one.engine.pass();
    await two.engine.pass();
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      ids.push(await request());
      pass(1);
    }
    for (let round = 0; round < 3; round += 1) {
      await one.engine.pass();
      await two.engine.pass();
      pass(4);
    }
    const [first, second, third] = await Promise.all(ids.map(see));
    expect(new Set([first?.machineId, second?.machineId])).toEqual(new Set([machineId, otherId]));
    expect(third).toMatchObject({
      state: 'queued',
      machineId: null,
      reason: 'Waiting for the CPU, next in line: 2 workloads are using all available slots.',
    });
    expect([one.driver.running(), two.driver.running()]).toMatchObject([[{ attempt: 1 }], [{ attempt: 1 }]]);

    // Wherever a slot comes free, whoever is next takes it.
    const ending = two.launches[0] as Launch;
    await report(ending, ...complete);
    await two.driver.stop(ending.workloadId, 1);
    for (let round = 0; round < 3; round += 1) {
      pass(4);
      await one.engine.pass();
      await two.engine.pass();
    }
    expect(await see(ids[2] as string)).toMatchObject({ machineId: otherId, attempt: 1 });
  });

  test('a machine that can start nothing rests, says why, and its work goes to the other', async () => {
    const [one, two] = [machine(machineId), machine(otherId)];
    let tries = 0;
    const start = async () => {
      tries += 1;
      throw new Error("EROFS: read-only file system, mkdir '/data/workloads/7'");
    };
    const broken = engineOn({ ...two.driver, start }, { machineId: otherId });
    await broken.pass();
    const ids = [await request()];
    await broken.pass();
    expect(await see(ids[0] as string)).toMatchObject({ state: 'queued', attempt: 1 });
    // It has left nothing there: whichever machine has room takes it.
    await one.engine.pass();
    pass(6);
    await one.engine.pass();
    expect(await see(ids[0] as string)).toMatchObject({ machineId, attempt: 2 });

    for (let count = 0; count < 9; count += 1) ids.push(await request());
    await broken.pass();
    const sentence =
      'Nothing can be started on this machine: the data folder is read-only. It tries again every 3 minutes.';
    expect(tries).toBeLessThan(ids.length);
    const { machines } = await readMachines({ db });
    expect(machines.map(({ trouble }) => trouble)).toEqual([null, sentence]);

    const before = tries;
    pass(61);
    await one.engine.pass();
    await broken.pass();
    expect(one.driver.running()).toHaveLength(1);
    expect(tries).toBe(before);

    // Once the rest is over a try that succeeds makes it like any other.
    pass(120);
    await two.engine.pass();
    expect(two.driver.running()).toHaveLength(1);
  });

  test('a server that ends takes along what runs on its own machine alone', async () => {
    const [one, two] = [machine(machineId), machine(otherId)];
    await two.engine.pass();
    const id = await request();
    await two.engine.pass();
    expect(await see(id)).toMatchObject({ machineId: otherId, attempt: 1 });
    await one.engine.shutdown();
    expect(two.driver.running()).toHaveLength(1);
    expect(await see(id)).toMatchObject({ interrupted: false });
  });

  test('the work of one that is gone begins anew on the other, and the old process is refused', async () => {
    const [one, two] = [machine(machineId), machine(otherId)];
    await two.engine.pass();
    const id = await request();
    await two.engine.pass();
    const old = two.launches[0] as Launch;
    await report(old, complete[1] as (typeof complete)[number]);
    pass(20);
    await report(old, { type: 'checkpoint', step: 1 });
    expect(await see(id)).toMatchObject({ state: 'ready', savedSeconds: 20 });

    // Silent for a moment it keeps its work.
    await one.engine.pass();
    await giveUp();
    expect(await see(id)).toMatchObject({ machineId: otherId, restarts: 0 });

    await goes(otherId);
    const caller = await authenticate(id, old.server.token);
    await giveUp();
    // What was on its way meanwhile does not make it run again, where nobody looks after it.
    const reports = [{ ...complete[1], seq: 3, at: clock.now().toISOString() }] as Report[];
    const late = acceptReports({ db, clock, caller: caller as WorkloadCaller }, { body: { reports } }, kinds);
    await expect(late).rejects.toMatchObject({ code: 'gone' });
    expect(await see(id)).toMatchObject({
      state: 'queued',
      machineId: null,
      activeSeconds: 0,
      savedSeconds: 0,
      failures: 0,
      restarts: 1,
      reason: expect.stringContaining('out of reach'),
    });
    expect(await authenticate(id, old.server.token)).toBeNull();
    pass(1);
    await one.engine.pass();
    await one.engine.pass();
    expect(await see(id)).toMatchObject({ machineId, attempt: 2 });

    // It comes back, and ends what it still has of it.
    expect(two.driver.running()).toHaveLength(1);
    await engineOn(two.driver, { machineId: otherId }).pass();
    expect(two.driver.running()).toEqual([]);
    expect(one.driver.running()).toHaveLength(1);
    expect(await see(id)).toMatchObject({ machineId, attempt: 2 });
  });

  test('work that still reports keeps its token while the server of its machine is away', async () => {
    const two = machine(otherId);
    await two.engine.pass();
    const id = await request();
    await two.engine.pass();
    const launch = two.launches[0] as Launch;
    await report(launch, complete[1] as (typeof complete)[number]);
    await goes(otherId);
    await report(launch, { type: 'checkpoint', step: 1 });
    await giveUp();
    expect(await see(id)).toMatchObject({ state: 'ready', machineId: otherId, attempt: 1, restarts: 0 });
    expect(await authenticate(id, launch.server.token)).not.toBeNull();
    // Silent as well it is taken, as nobody is there to end it.
    await goes(otherId);
    await giveUp();
    expect(await see(id)).toMatchObject({ state: 'queued', machineId: null });
  });

  test('work that reports on although it was asked to stop is heard no longer than silence would be', async () => {
    const two = machine(otherId);
    await two.engine.pass();
    const id = await request();
    await two.engine.pass();
    const launch = two.launches[0] as Launch;
    await report(launch, complete[1] as (typeof complete)[number]);
    await goes(otherId);
    await stop(id);
    for (const state of ['ready', 'stopped']) {
      await report(launch, { type: 'checkpoint', step: 1 });
      await giveUp();
      expect(await see(id)).toMatchObject({ state });
      pass(61);
    }
    await expect(authenticate(id, launch.server.token)).rejects.toMatchObject({ code: 'gone' });
  });

  test('a workload that cannot be taken from a machine that is gone keeps no other there', async () => {
    const two = machine(otherId);
    await two.engine.pass();
    const run = await request();
    const deployment = await request({ behaviour: 'deployment' });
    await two.engine.pass();
    await goes(otherId);
    const onChange = vi.fn().mockRejectedValueOnce(new Error('no such column'));
    const failing = new Map([['test', { name: 'test', onChange }]]);
    await requeueLost({ ...parts, kinds: failing }, [otherId]);
    const left = [await see(run), await see(deployment)].map((workload) => workload.machineId);
    expect(new Set(left)).toEqual(new Set([null, otherId]));
  });

  test('after an outage of the database the first that is back takes nothing from those who have not been back yet', async () => {
    const [one, two] = [machine(machineId), machine(otherId)];
    await two.engine.pass();
    const id = await request();
    await two.engine.pass();
    await report(two.launches[0] as Launch, complete[1] as (typeof complete)[number]);
    await goes(machineId, 0);
    await goes(otherId, 0);
    await engineOn(one.driver, { lostAfterMs: parts.lostAfterMs }).pass();
    expect(await see(id)).toMatchObject({ state: 'ready', machineId: otherId, attempt: 1, restarts: 0 });
    // Unseen for a minute of which this one has watched the half.
    await goes(otherId, 30);
    await giveUp();
    expect(await see(id)).toMatchObject({ machineId: otherId });
    await goes(otherId, 61);
    await giveUp();
    expect(await see(id)).toMatchObject({ state: 'queued', machineId: null });
  });

  test('what has ended on one that never returns is kept for seven days like any other', async () => {
    const [one, two] = [machine(machineId), machine(otherId)];
    await two.engine.pass();
    const id = await request();
    await two.engine.pass();
    await leaveCheckpoint(id);
    await stop(id);
    await goes(otherId);
    await giveUp();
    const givingUp = engineOn(one.driver, { lostAfterMs: parts.lostAfterMs });
    await givingUp.pass();
    expect(await see(id)).toMatchObject({ state: 'stopped', machineId: otherId, filesRemovedAt: null });
    expect(await selectArtefacts(db, id)).toHaveLength(1);

    pass(8 * 24 * 3600);
    // Silent for a moment it does so itself.
    await sql`update machines set seen_at = now() where id = ${otherId}`.execute(db);
    await givingUp.pass();
    expect(await see(id)).toMatchObject({ filesRemovedAt: null });
    await goes(otherId);
    await givingUp.pass();
    expect(await see(id)).toMatchObject({ filesRemovedAt: clock.now() });
    expect(await selectArtefacts(db, id)).toEqual([]);
    // It comes back, and deletes what it still has.
    await engineOn(two.driver, { machineId: otherId }).pass();
    expect(await two.driver.list()).toEqual([]);
  });

  test('what its owner has stopped meanwhile ends, and what has its result is completed', async () => {
    const two = machine(otherId);
    await two.engine.pass();
    const stopped = await request();
    const served = await request({ behaviour: 'deployment' });
    await two.engine.pass();
    await stop(stopped);
    const launch = two.launches.find(({ workloadId }) => workloadId === served) as Launch;
    await report(launch, { type: 'result', files: [], summary: {} });
    await goes(otherId);
    await giveUp();
    expect(await see(stopped)).toMatchObject({ state: 'stopped', devices: null });
    expect(await see(served)).toMatchObject({ state: 'completed' });
  });
});
