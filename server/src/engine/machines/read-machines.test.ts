import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { testDatabase } from '../../testing/test-database.ts';
import type { Gpu } from '../model/gpu.ts';
import { testMachine } from '../testing/test-machine.ts';
import { noteMachine } from './queries.ts';
import { readMachines } from './read-machines.ts';

const { db } = await testDatabase();

test('operators see what each machine offers, and which are away', async () => {
  const holder = await testMachine(db);
  const away = await testMachine(db, 'second oven');
  const fresh = await testMachine(db, 'third oven');
  const cpu = { cores: 8, memory_bytes: 2 ** 34 };
  const gpu: Gpu = {
    type: 'NVIDIA_TESLA_A100',
    like: 'NVIDIA_TESLA_A100',
    memoryBytes: 2 ** 36,
    devices: [0, 1],
  };
  const noted = { admission: 'slots', blockers: {}, cpu } as const;
  await noteMachine(db, holder, { ...noted, capacity: { 'cpu:run': 2, 'cpu:deployment': 4 } });
  await noteMachine(db, away, { ...noted, capacity: { gpus: [gpu] } });
  await sql`update machines set seen_at = seen_at - interval '1 minute' where id = ${away}`.execute(db);

  const { machines } = await readMachines({ db });
  const common = { driver: 'fake', trouble: null, started_at: expect.any(String) };
  expect(machines).toEqual([
    {
      ...common,
      machine_id: holder,
      name: 'oven',
      holds_files: true,
      is_present: true,
      last_seen_at: expect.any(String),
      offer: { cpu, run_slots: 2, deployment_slots: 4, accelerators: [] },
    },
    {
      ...common,
      machine_id: away,
      name: 'second oven',
      holds_files: false,
      is_present: false,
      last_seen_at: expect.any(String),
      offer: {
        cpu,
        run_slots: 0,
        deployment_slots: 0,
        accelerators: [{ gpu_type: gpu.type, label: expect.any(String), memory_bytes: 2 ** 36, count: 2 }],
      },
    },
    {
      ...common,
      machine_id: fresh,
      name: 'third oven',
      holds_files: false,
      is_present: false,
      last_seen_at: null,
      offer: null,
    },
  ]);
});
