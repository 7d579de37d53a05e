import { assetTree, deleteFile, getAsset } from '@bakehouse/contract/assets';
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { testServer } from '../../../testing/test-server.ts';
import { assetCalls } from '../testing/asset-calls.ts';

test('lists an earlier revision with files that were deleted or replaced since', async () => {
  const server = await testServer();
  const { create, uploadAt } = assetCalls(server);
  const [ada, eve] = [await server.signUp(), await server.signUp()];
  const [id, other] = [await create(ada), await create(ada)];
  await uploadAt(ada, id, 'deep/a.csv', 'a\n');
  const upload = async (to: string, path: string, text: string) =>
    (await uploadAt(ada, to, path, text)).json() as Promise<{ revision_id: string }>;
  const { revision_id } = await upload(id, 'b.csv', 'b\n1\n');
  const elsewhere = await upload(other, 'c.csv', 'c\n');
  await uploadAt(ada, id, 'b.csv', 'b\n');
  await server.request(deleteFile, { params: { id }, body: { file_path: 'deep/a.csv' } }, { as: ada });
  const tree = async (
    query: { path?: string; revision_id?: string; limit?: number; cursor?: string },
    as = ada,
  ) => server.request(assetTree, { params: { id }, query }, { as });

  expect((await tree({})).entries).toMatchObject([{ path: 'b.csv', size_bytes: 2 }]);
  const first = await tree({ revision_id, limit: 1 });
  expect(first.entries).toMatchObject([{ path: 'b.csv', size_bytes: 4 }]);
  const rest = await tree({ revision_id, cursor: first.next_cursor ?? '' });
  expect(rest.entries).toEqual([{ type: 'folder', path: 'deep' }]);
  expect((await tree({ revision_id, path: 'deep' })).entries).toMatchObject([{ path: 'deep/a.csv' }]);
  await expect(tree({ path: 'deep' })).rejects.toThrow('There is no folder deep');
  await expect(tree({ revision_id: elsewhere.revision_id })).rejects.toThrow('no such version');
  await expect(tree({ revision_id }, eve)).rejects.toMatchObject({ status: 404 });
});

test('an asset lists the files of its revision, even if another file arrives during the read', async () => {
  const server = await testServer();
  const { create, uploadAt } = assetCalls(server);
  const ada = await server.signUp();
  const id = await create(ada);
  await uploadAt(ada, id, 'a.csv', 'a\n');
  const query = Reflect.get(pg.Client.prototype, 'query') as (...args: never) => unknown;
  let isFirst = true;
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args) {
    const run = () => query.apply(this, args as never);
    const text = JSON.stringify(args[0]);
    if (!isFirst || !text.includes('starts_with(path')) return run() as never;
    isFirst = false;
    return uploadAt(ada, id, 'b.csv', 'b\n').then(run) as never;
  });
  onTestFinished(() => spy.mockRestore());
  const asset = await server.request(getAsset, { params: { id } }, { as: ada });
  expect(isFirst).toBe(false);
  expect(asset.files.map(({ path }) => path)).toEqual(['a.csv']);
});
