import { createAsset, deleteAsset, listAssets } from '@bakehouse/contract/assets';
import { SEARCH_RESULTS_MAX, search } from '@bakehouse/contract/search';
import { beforeAll, expect, test } from 'vitest';
import { type TestServer, type TestUser, testServer } from '../../../testing/test-server.ts';
import { insertStarter } from '../../deployments/testing/test-models.ts';

let server: TestServer;
let ada: TestUser;
let bob: TestUser;

beforeAll(async () => {
  server = await testServer();
  [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
});

function create(user: TestUser, title: string, words: object = {}): Promise<string> {
  const body = { dataset_type: 'RAW', title, user_id: user.userId, ...words } as const;
  return server.request(createAsset, { body }, { as: user });
}

const find = (query: string, as = ada) => server.request(search, { query: { query } }, { as });
const names = async (query: string, as = ada) => (await find(query, as)).results.map(({ name }) => name);

test('finds own assets and starter models by name, id, family and tag, ignoring case', async () => {
  const rye = await create(ada, 'Rye questions', { tags: ['Sourdough', 'text-generation'] });
  const llama = await create(ada, 'Tuned', { dataset_type: 'MODEL', base_model_type: 'llama3' });
  const { assetId: starter } = await insertStarter(server.services, 'crumb');
  await create(bob, 'Rye of Bob');

  expect(await find('RYE')).toEqual({
    results: [
      {
        kind: 'dataset',
        id: rye,
        name: 'Rye questions',
        family: '',
        tags: ['Sourdough', 'text-generation'],
        is_starter: false,
        owner_username: null,
      },
    ],
    similar: false,
  });
  expect(await names('dough')).toEqual(['Rye questions']);
  expect(await names(rye.slice(3, 20).toUpperCase())).toEqual(['Rye questions']);
  expect((await find('llama')).results).toMatchObject([{ kind: 'model', id: llama, family: 'llama' }]);
  expect((await find('starter mod')).results).toMatchObject([
    { kind: 'model', id: starter, is_starter: true },
  ]);
  expect(await names('  rye  ')).toEqual(['Rye questions']);
  expect(await names('_')).toEqual([]);
  expect(await names('%')).toEqual([]);
  expect(await names('')).toEqual(['Starter Model', 'Tuned', 'Rye questions']);
  expect(await names('rye', bob)).toEqual(['Rye of Bob']);

  await server.send(deleteAsset, { params: { id: rye } }, { as: ada });
  expect(await names('rye')).toEqual([]);
  await expect(find('x'.repeat(201))).rejects.toMatchObject({ status: 400 });
});

test('lists whole names first, then the newest, and twelve at most', async () => {
  const cy = await server.signUp('Cy');
  await create(cy, 'Wheat');
  await create(cy, 'Tagged', { tags: ['wheat'] });
  for (let n = 1; n <= 15; n++) await create(cy, `Wheat batch ${n}`);
  const found = await names('wheat', cy);
  expect(found).toHaveLength(12);
  expect(found.slice(0, 4)).toEqual(['Tagged', 'Wheat', 'Wheat batch 15', 'Wheat batch 14']);
});

test('lists a whole id first, then names that contain it', async () => {
  const hal = await server.signUp('Hal');
  const id = await create(hal, 'Starter');
  await create(hal, `Copy of ${id}`);
  expect(await names(id.toUpperCase(), hal)).toEqual(['Starter', `Copy of ${id}`]);
  expect(await names(`of ${id}`, hal)).toEqual([`Copy of ${id}`]);
});

test('searches for separate words before similar names', async () => {
  const gus = await server.signUp('Gus');
  const words = { dataset_type: 'MODEL', base_model_type: 'llama3' };
  await create(gus, 'Old baker', { ...words, tags: ['chat'] });
  await create(gus, 'New baker', { ...words, tags: ['chat', 'Rye'] });
  await create(gus, 'Llama alone', words);
  expect(await find('llama CHAT', gus)).toMatchObject({
    results: [{ name: 'New baker' }, { name: 'Old baker' }],
    similar: false,
  });
  expect(await names('rye  new llama', gus)).toEqual(['New baker']);
  expect(await names('llama alone', gus)).toEqual(['Llama alone']);
  expect(await find('ll%ma chat', gus)).toMatchObject({ similar: true });
  for (let n = 1; n <= 15; n++) await create(gus, `Batch ${n}`, { tags: ['wheat'] });
  const batches = await names('wheat batch', gus);
  expect(batches).toHaveLength(SEARCH_RESULTS_MAX);
  expect(batches[0]).toBe('Batch 15');
});

test('finds similar names for a misspelt word, only without an exact match', async () => {
  const di = await server.signUp('Di');
  await create(di, 'Old', { tags: ['transformers'] });
  await create(di, 'Answers of llama');
  await create(di, 'Source code');
  expect(await find('trasnformers', di)).toMatchObject({ results: [{ name: 'Old' }], similar: true });
  expect(await find('lama', di)).toMatchObject({ results: [{ name: 'Answers of llama' }] });
  expect(await find('LLLama', di)).toMatchObject({ results: [{ name: 'Answers of llama' }], similar: true });
  expect(await find('sourdough', di)).toEqual({ results: [], similar: false });
  expect(await find('trasnformers', bob)).toEqual({ results: [], similar: false });
});

test('searches families in lists too', async () => {
  const ed = await server.signUp('Ed');
  await create(ed, 'Tuned', { dataset_type: 'MODEL', base_model_type: 'qwen' });
  const query = { types: 'MODEL', owner: ed.userId, search: 'QWEN' } as const;
  const { datasets } = await server.request(listAssets, { query }, { as: ed });
  expect(datasets).toMatchObject([{ title: 'Tuned', family: 'qwen' }]);
});
