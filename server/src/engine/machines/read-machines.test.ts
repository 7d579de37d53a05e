import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { testDatabase } from '../../testing/test-database.ts';
import type { Gpu } from '../model/gpu.ts';
import { testCluster, testMachine } from '../testing/test-machine.ts';
import { recordMachineHeartbeat } from './queries.ts';
import { readMachines } from './read-machines.ts';

const { db } = await testDatabase();

test('operators see the offers of the machine and its cluster, and which of them is away', async () => {
  const own = await testMachine(db);
  const cluster = await testCluster(db);
  const cpu = { cores: 8, memory_bytes: 2 ** 34 };
  const gpu: Gpu = {
    type: 'NVIDIA_TESLA_A100',
    like: 'NVIDIA_TESLA_A100',
    memoryBytes: 2 ** 36,
    devices: [0, 1],
  };
  const common = { trouble: null, started_at: expect.any(String) };
  const machine = { ...common, machine_id: own, name: 'oven', driver: 'fake' };
  const bakery = { ...common, machine_id: cluster, name: 'bakery', driver: 'kubernetes' };
  const unseen = { is_present: false, last_seen_at: null, offer: null };
  expect((await readMachines({ db })).machines).toEqual([
    { ...machine, ...unseen },
    { ...bakery, ...unseen },
  ]);

  const noted = { blockers: {}, cpu } as const;
  const slots = { 'cpu:run': 2, 'cpu:deployment': 4 };
  await recordMachineHeartbeat(db, own, { ...noted, admission: 'slots', capacity: slots });
  await recordMachineHeartbeat(db, cluster, { ...noted, admission: 'driver', capacity: { gpus: [gpu] } });
  await sql`update machines set seen_at = seen_at - interval '1 minute' where id = ${cluster}`.execute(db);
  const last_seen_at = expect.any(String);
  const accelerators = [{ gpu_type: gpu.type, label: expect.any(String), memory_bytes: 2 ** 36, count: 2 }];
  expect((await readMachines({ db })).machines).toEqual([
    {
      ...{ ...machine, is_present: true, last_seen_at },
      offer: { cpu, run_slots: 2, deployment_slots: 4, accelerators: [] },
    },
    {
      ...{ ...bakery, is_present: false, last_seen_at },
      offer: { cpu, run_slots: 0, deployment_slots: 0, accelerators },
    },
  ]);
});
