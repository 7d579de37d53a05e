import * as contract from '@bakehouse/contract/assets';
import { beforeAll, expect, test } from 'vitest';
import { type TestUser, testServer } from '../../../testing/test-server.ts';
import { assetCalls } from '../testing/asset-calls.ts';

const server = await testServer();
const { create, upload } = assetCalls(server);

let cy: TestUser;
beforeAll(async () => {
  cy = await server.signUp('Cy');
  for (const [title, size, tags] of [
    ['Beta', 30, ['red']],
    ['alpha', 10, []],
    ['Gamma 100%', 20, ['Blue']],
  ] as const) {
    const id = await create(cy, { title, tags });
    await upload(cy, id, 'a.txt', 'x'.repeat(size));
  }
  await create(cy, { dataset_type: 'MODEL', title: 'A model' });
});

const list = (query: object) =>
  server.request(contract.listAssets, { query: { types: 'RAW', owner: cy.userId, ...query } }, { as: cy });
const titles = async (query: object) => (await list(query)).datasets.map((asset) => asset.title);

test('sorts by last change, title or size', async () => {
  expect(await titles({})).toEqual(['Gamma 100%', 'alpha', 'Beta']);
  expect(await titles({ sort: 'title' })).toEqual(['alpha', 'Beta', 'Gamma 100%']);
  expect(await titles({ sort: 'size' })).toEqual(['Beta', 'Gamma 100%', 'alpha']);
  expect(await titles({ types: 'MODEL' })).toEqual(['A model']);
});

test('supports the parameters of older clients', async () => {
  expect(await titles({ is_new_only: true })).toEqual(['Gamma 100%', 'alpha', 'Beta']);
  expect(await list({ types: 'VECTOR' })).toEqual({ datasets: [], next_cursor: null });
  await server.services.db
    .insertInto('assets')
    .values({
      owner_user_id: cy.userId,
      dataset_type: 'VECTOR',
      title: 'An index',
      category: '',
      details: '',
    })
    .execute();
  expect(await titles({ types: 'VECTOR' })).toEqual(['An index']);
});

test('pages through each order without loss', async () => {
  for (const sort of ['updated', 'title', 'size'] as const) {
    const all = await titles({ sort });
    const paged: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await list({ sort, limit: 1, ...(cursor && { cursor }) });
      paged.push(...page.datasets.map((asset) => asset.title));
      cursor = page.next_cursor ?? undefined;
    } while (cursor);
    expect(paged).toEqual(all);
  }
  const { next_cursor } = await list({ sort: 'size', limit: 1 });
  await expect(list({ sort: 'title', cursor: next_cursor })).rejects.toMatchObject({ status: 400 });
  await expect(list({ cursor: 'made-up' })).rejects.toMatchObject({ status: 400 });
});

test('filters by a tag, which must match exactly', async () => {
  expect(await titles({ tag: 'red' })).toEqual(['Beta']);
  expect(await titles({ tag: 'Blue', search: 'gamma' })).toEqual(['Gamma 100%']);
  expect(await titles({ tag: 'Blue', search: 'beta' })).toEqual([]);
  expect(await titles({ tag: 'blue' })).toEqual([]);
  expect(await titles({ tag: '' })).toHaveLength(3);
});

test('searches titles, tags and ids, ignoring case and wildcards', async () => {
  expect(await titles({ search: 'ALPH' })).toEqual(['alpha']);
  expect(await titles({ search: 'blue' })).toEqual(['Gamma 100%']);
  expect(await titles({ search: '0%' })).toEqual(['Gamma 100%']);
  expect(await titles({ search: '%' })).toEqual(['Gamma 100%']);
  expect(await titles({ search: '_' })).toEqual([]);
  const [first] = (await list({})).datasets;
  expect(await titles({ search: first?.dataset_id })).toEqual([first?.title]);
});

test('returns the Diffusers pipelines of models if requested', async () => {
  const owner = await server.signUp();
  const model = async (title: string, index?: string) => {
    const id = await create(owner, { dataset_type: 'MODEL', title });
    await upload(owner, id, index === undefined ? 'config.json' : 'model_index.json', index ?? '{}');
    return id;
  };
  const painter = await model('Painter', '{"_class_name": "FluxPipeline"}');
  await model('Damaged', '{');
  await model('Writer');
  const pipelines = async (query: object) => {
    const models = { types: 'MODEL', owner: owner.userId, sort: 'title', ...query } as const;
    const { datasets } = await server.request(contract.listAssets, { query: models }, { as: owner });
    return datasets.map(({ title, pipeline }) => [title, pipeline]);
  };
  expect(await pipelines({ include_pipelines: 'true' })).toEqual([
    ['Damaged', null],
    ['Painter', 'FluxPipeline'],
    ['Writer', null],
  ]);
  expect(await pipelines({})).toContainEqual(['Painter', null]);
  const one = await server.request(contract.getAsset, { params: { id: painter } }, { as: owner });
  expect(one.pipeline).toBe('FluxPipeline');
});
