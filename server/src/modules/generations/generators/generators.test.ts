import { generatorNames, listGenerators } from '@bakehouse/contract/generators';
import { generators } from '@bakehouse/contract/generators/table';
import { expect, test } from 'vitest';
import { upsertPreparation } from '../../../engine/host/preparation/queries.ts';
import { testServer } from '../../../testing/test-server.ts';

test('lists generators without authentication', async () => {
  const server = await testServer();
  const answer = await server.request(listGenerators, {});
  expect(answer.generators.map(({ name }) => name)).toEqual([...generatorNames]);
  expect(answer.generators.every((generator) => generator.served_by.length === 0)).toBe(true);
  // Only this server can run Paris, and Imagen has been discontinued.
  const notConnectable = answer.generators.filter((generator) => !generator.is_connectable);
  expect(notConnectable.map(({ name }) => name)).toEqual(['imagen', 'paris']);
});

test('marks a generator as being prepared until its starter model is ready', async () => {
  const server = await testServer({ config: { prepare: true } });
  const { db } = server.services;
  const prepared = async (
    state: 'waiting' | 'running' | 'failed' | 'ready',
    id: 'training' | 'starter-image-model' = 'starter-image-model',
  ) => {
    const row = { id, state, detail: '', progress: null };
    await db.transaction().execute((tx) => upsertPreparation(tx, { ...row, updated_at: new Date() }));
    const { generators: listed } = await server.request(listGenerators, {});
    return listed.filter((one) => one.is_being_prepared).map(({ name }) => name);
  };
  const all = [...generatorNames];
  expect([await prepared('waiting'), await prepared('running')]).toEqual([all, all]);
  // The starter model is prepared only if the earlier steps, such as 'training', succeed.
  expect([await prepared('failed', 'training'), await prepared('ready', 'training')]).toEqual([[], all]);
  expect(await prepared('failed')).toEqual([]);
  expect(await prepared('ready')).toEqual([]);
});

test('each generator has a form with unique field names', () => {
  expect(Object.keys(generators)).toEqual([...generatorNames]);
  for (const { fields } of Object.values(generators)) {
    const names = fields.map(({ name }) => name);
    expect(new Set(['prompt', ...names]).size).toBe(names.length + 1);
  }
});
