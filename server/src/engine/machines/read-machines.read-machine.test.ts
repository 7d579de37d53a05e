import { pino } from 'pino';
import { expect, test } from 'vitest';
import { readConfig } from '../../config.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { isPreparing } from '../host/preparation/preparation-record.ts';
import { upsertPreparation } from '../host/preparation/queries.ts';
import { testCluster, testMachine } from '../testing/test-machine.ts';
import { recordMachineHeartbeat } from './queries.ts';
import { readMachine } from './read-machines.ts';

test('a server that prepares nothing reports no preparation', async () => {
  const { db } = await testDatabase();
  for (const [id, state] of [
    ['serving', 'ready'],
    ['starter-language-model', 'running'],
  ] as const) {
    const row = { id, state, detail: '', progress: null, updated_at: new Date() };
    await db.transaction().execute((tx) => upsertPreparation(tx, row));
  }
  const preparing = async (prepare: boolean) => {
    const services = { config: { ...readConfig({}), prepare }, db };
    const ids = ['serving', 'starter-language-model', 'starter-image-model'] as const;
    return Promise.all(ids.map((id) => isPreparing(services, id)));
  };
  expect(await preparing(true)).toEqual([false, true, true]);
  // Rows left by a killed process.
  expect(await preparing(false)).toEqual([false, false, false]);
  const states = async (prepare: boolean) => {
    const config = { ...readConfig({}), prepare };
    const { preparations } = await readMachine({ config, db, log: pino({ level: 'silent' }) });
    return preparations.map(({ id, state }) => [id, state]);
  };
  expect(await states(true)).toEqual([
    ['serving', 'ready'],
    ['starter-language-model', 'running'],
    ['starter-embedding-model', 'waiting'],
    ['training', 'waiting'],
    ['starter-image-model', 'waiting'],
  ]);
  expect(await states(false)).toEqual([['serving', 'ready']]);
});

test('a GPU of the cluster counts as usable', async () => {
  const { db } = await testDatabase();
  const read = () => readMachine({ config: readConfig({}), db, log: pino({ level: 'silent' }) });
  expect(await read()).toMatchObject({ accelerators: [], serves_text_on_gpus: false });

  const offer = async (id: string, devices: number[], servesTextOnGpus: boolean) => {
    const gpu = { type: 'NVIDIA_H100_80GB', like: 'NVIDIA_H100_80GB', memoryBytes: 80e9, devices } as const;
    await recordMachineHeartbeat(db, id, {
      admission: 'slots',
      blockers: {},
      cpu: { cores: 1, memory_bytes: 1 },
      capacity: { gpus: [gpu], servesTextOnGpus },
    });
  };
  await offer(await testMachine(db), [0], true);
  await offer(await testCluster(db), [0, 1], false);
  expect(await read()).toMatchObject({
    accelerators: [{ gpu_type: 'NVIDIA_H100_80GB', count: 2 }],
    serves_text_on_gpus: true,
  });
});
