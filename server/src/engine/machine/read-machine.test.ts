import { pino } from 'pino';
import { expect, test } from 'vitest';
import { readConfig } from '../../config.ts';
import { testDatabase } from '../../testing/test-database.ts';
import { testMachine } from '../testing/test-machine.ts';
import { upsertPreparation } from './preparation/queries.ts';
import { readMachine } from './read-machine.ts';

test('a server that prepares nothing has nothing in preparation', async () => {
  const { db } = await testDatabase();
  const machineId = await testMachine(db);
  for (const [id, state] of [
    ['serving', 'ready'],
    ['starter-language-model', 'running'],
  ] as const) {
    const row = { machine_id: machineId, id, state, detail: '', progress: null, updated_at: new Date() };
    await db.transaction().execute((tx) => upsertPreparation(tx, row));
  }
  const states = async (prepare: boolean) => {
    const config = { ...readConfig({}), prepare };
    const { preparations } = await readMachine({ config, db, machineId, log: pino({ level: 'silent' }) });
    return preparations.map(({ id, state }) => [id, state]);
  };
  expect(await states(true)).toEqual([
    ['serving', 'ready'],
    ['starter-language-model', 'running'],
    ['training', 'waiting'],
    ['starter-image-model', 'waiting'],
  ]);
  expect(await states(false)).toEqual([['serving', 'ready']]);
});
