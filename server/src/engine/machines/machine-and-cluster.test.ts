import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import type { Launch } from '../drivers/driver.ts';
import { createFakeDriver, idleUntilStopped } from '../drivers/fake/fake-driver.ts';
import type { Admission } from '../model/offer.ts';
import { testEngine } from '../testing/test-engine.ts';
import { testCluster } from '../testing/test-machine.ts';
import { readMachines } from './read-machines.ts';

const { db, machineId, engineOn, request, see, pass } = await testEngine();
const clusterId = await testCluster(db);

beforeEach(async () => {
  await db.deleteFrom('workloads').execute();
  await sql`update machines set seen_at = null, offer = null`.execute(db);
});

/** A test machine with CPU slots, its launches, and passes of its engine. */
function place(id: string, admission: Admission) {
  const launches: Launch[] = [];
  const fake = createFakeDriver({
    capacity: { 'cpu:run': 1, 'cpu:deployment': 1 },
    script: async (launch, process) => {
      launches.push(launch);
      return idleUntilStopped(launch, process);
    },
  });
  const driver = { ...fake, admission };
  return { driver, engine: engineOn(driver, { machineId: id }), launches };
}
const machine = () => place(machineId, 'slots');
const cluster = () => place(clusterId, 'driver');

test('a machine and a cluster share one queue, and each manages its own work', async () => {
  const [oven, bakery] = [machine(), cluster()];
  await oven.engine.pass();
  await bakery.engine.pass();
  const ids = [await request()];
  pass(1);
  ids.push(await request());
  for (let round = 0; round < 3; round += 1) {
    await bakery.engine.pass();
    await oven.engine.pass();
  }
  expect(await Promise.all(ids.map(see))).toMatchObject([
    { machineId, attempt: 1 },
    { machineId: clusterId, attempt: 1 },
  ]);
  expect(oven.launches.map(({ workloadId }) => workloadId)).toEqual(ids.slice(0, 1));
  expect(bakery.launches.map(({ workloadId }) => workloadId)).toEqual(ids.slice(1));
});

test('a machine that can start nothing pauses, reports why, and its work moves to the cluster', async () => {
  const [oven, bakery] = [machine(), cluster()];
  let tries = 0;
  const start = async () => {
    tries += 1;
    throw new Error("EROFS: read-only file system, mkdir '/data/workloads/7'");
  };
  const broken = engineOn({ ...oven.driver, start });
  const ids: string[] = [];
  for (let count = 0; count < 9; count += 1) ids.push(await request());
  await broken.pass();
  const sentence =
    'Nothing can be started on this machine: the data folder is read-only. It tries again every 3 minutes.';
  expect(tries).toBeLessThan(ids.length);
  const { machines } = await readMachines({ db });
  expect(machines.map(({ trouble }) => trouble)).toEqual([sentence, null]);

  const before = tries;
  pass(61);
  await broken.pass();
  expect(tries).toBe(before);
  await bakery.engine.pass();
  await bakery.engine.pass();
  expect(bakery.launches).toHaveLength(ids.length);

  // After the pause, a successful start makes it available again.
  const later = await request();
  pass(120);
  await oven.engine.pass();
  expect(await see(later)).toMatchObject({ machineId, attempt: 1 });
});

test('a server that ends stops only the work that runs on its machine', async () => {
  const [oven, bakery] = [machine(), cluster()];
  await bakery.engine.pass();
  const id = await request();
  await bakery.engine.pass();
  expect(await see(id)).toMatchObject({ machineId: clusterId, attempt: 1 });
  await oven.engine.shutdown();
  expect(bakery.driver.running()).toHaveLength(1);
  expect(await see(id)).toMatchObject({ interrupted: false });
});
