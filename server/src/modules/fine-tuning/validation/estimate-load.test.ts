import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createFakeDriver } from '../../../engine/drivers/fake/fake-driver.ts';
import { recordMachineHeartbeat } from '../../../engine/machines/queries.ts';
import { readOffer } from '../../../engine/machines/read-machines.ts';
import type { Capacity } from '../../../engine/model/capacity.ts';
import { testCluster, testMachine } from '../../../engine/testing/test-machine.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { estimateLoad } from './estimate-load.ts';

const { db } = await testDatabase();
const own = { cores: 1, memoryBytes: 1, load: load(0, 1), slots: 1, atWork: 0 };

function load(busyThreads: number, cores: number) {
  return { busyThreads, cores, runThreads: cores };
}

/** Registers a machine with this capacity and load. */
async function offer(
  id: string,
  cores: number,
  busyThreads: number,
  capacity: Capacity = { 'cpu:run': 1 },
): Promise<void> {
  const driver = createFakeDriver({ capacity, script: async () => 0 });
  const cpu = { cores, memory_bytes: cores * 1000 };
  await recordMachineHeartbeat(db, id, await readOffer(driver, { cpu, load: load(busyThreads, cores) }));
}

test('an estimate uses the capacity and load of the machine that runs the work', async () => {
  expect(await estimateLoad(db, own)).toEqual({ cores: 1, memoryBytes: 1, slowdown: 1 });

  const machine = await testMachine(db);
  await offer(machine, 2, 10);
  expect(await estimateLoad(db, own)).toEqual({ cores: 2, memoryBytes: 2000, slowdown: 6 });

  // The only slot is taken, so the next run starts when this one has ended.
  const at = new Date();
  const times = { check_at: at, created_at: at, queued_at: at, not_before: at };
  await db
    .insertInto('workloads')
    .values({
      ...{ id: randomUUID(), behaviour: 'run', kind: 'test', title: 'x', spec: '{}', accelerator_count: 0 },
      ...{ ...times, attempt: 1, state: 'ready', machine_id: machine },
    })
    .execute();
  expect(await estimateLoad(db, own)).toEqual({ cores: 2, memoryBytes: 2000, slowdown: 5 });

  // If a cluster accepts runs on its CPUs, the estimate uses the cluster's capacity and load.
  await offer(machine, 2, 10, {});
  await offer(await testCluster(db), 8, 4);
  expect(await estimateLoad(db, own)).toEqual({ cores: 8, memoryBytes: 8000, slowdown: 1.5 });
});
