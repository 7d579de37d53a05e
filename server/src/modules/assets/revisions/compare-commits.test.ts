import { compareCommits, listAssetCommits } from '@bakehouse/contract/asset-commits';
import { deleteFile } from '@bakehouse/contract/assets';
import { expect, test } from 'vitest';
import { testServer } from '../../../testing/test-server.ts';
import { assetCalls } from '../testing/asset-calls.ts';

test('lists the files that a commit changed', async () => {
  const server = await testServer();
  const { create, uploadAt } = assetCalls(server);
  const [ada, eve] = [await server.signUp(), await server.signUp()];
  const id = await create(ada);
  await uploadAt(ada, id, 'a.csv', 'a\n1\n');
  await uploadAt(ada, id, 'deep/b.csv', 'b\n1\n');
  await uploadAt(ada, id, 'a.csv', 'a\n1\n2\n');
  await uploadAt(ada, id, 'c.csv', 'c\n');
  const remove = { params: { id }, body: { file_path: 'deep/b.csv' } };
  await server.request(deleteFile, remove, { as: ada });
  const { commits } = await server.request(listAssetCommits, { params: { id }, query: {} }, { as: ada });
  const [last, second, third, , first] = commits.map(({ commit_id }) => commit_id);
  const compare = (query: { to?: string }, as = ada) =>
    server.request(compareCommits, { params: { id }, query }, { as });

  const byDefault = await compare({});
  expect(byDefault).toMatchObject({ from: { number: 4 }, to: { number: 5, commit_id: last } });
  expect(byDefault.files).toEqual([
    { path: 'deep/b.csv', change: 'removed', size_before: 4, size_after: null },
  ]);
  expect(await compare({ to: second ?? '' })).toMatchObject({
    ...{ added_count: 1, removed_count: 0, changed_count: 0 },
    files: [{ path: 'c.csv', change: 'added', size_before: null, size_after: 2 }],
  });
  expect(await compare({ to: third ?? '' })).toMatchObject({
    files: [{ path: 'a.csv', change: 'changed', size_before: 4, size_after: 6 }],
  });
  // The first commit is compared with an empty one.
  expect((await compare({ to: first ?? '' })).files).toMatchObject([{ path: 'a.csv', change: 'added' }]);
  await expect(compare({ to: 'v9' })).rejects.toThrow('404 not_found: There is no commit v9');
  await expect(compare({}, eve)).rejects.toMatchObject({ status: 404 });
});
