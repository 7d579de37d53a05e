import { compareCommits, listAssetCommits } from '@bakehouse/contract/asset-commits';
import { expect, test } from 'vitest';
import { testServer } from '../../../testing/test-server.ts';
import { assetCalls } from '../testing/asset-calls.ts';
import { createTag, removeTag } from './tags.ts';

test('lists commits with their tags, sorted by name', async () => {
  const server = await testServer();
  const { create, uploadAt, contextOf } = assetCalls(server);
  const ada = await server.signUp();
  const [assetId, other] = [await create(ada), await create(ada)];
  const params = { id: assetId };
  const list = async () =>
    (await server.request(listAssetCommits, { params, query: {} }, { as: ada })).commits;
  for (const id of [assetId, other]) await uploadAt(ada, id, 'a.csv', 'a\n1\n');
  const first = (await list())[0]?.revision_id ?? '';
  await uploadAt(ada, assetId, 'a.csv', 'a\n2\n');
  const tag = (name: string) => createTag(contextOf(ada), { assetId, name, revisionId: first, message: '' });
  for (const name of ['v2', 'v1', 'draft']) await tag(name);
  await removeTag(contextOf(ada), { assetId, name: 'draft' });
  expect((await list()).map(({ tags }) => tags)).toEqual([[], ['v1', 'v2'], []]);
  const compared = await server.request(compareCommits, { params, query: {} }, { as: ada });
  expect([compared.from.tags, compared.to.tags]).toEqual([['v1', 'v2'], []]);
});
