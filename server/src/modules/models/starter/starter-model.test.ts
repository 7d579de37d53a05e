import path from 'node:path';
import * as contract from '@bakehouse/contract/assets';
import { beforeAll, expect, test } from 'vitest';
import { type TestUser, testServer } from '../../../testing/test-server.ts';
import { assetCalls } from '../../assets/testing/asset-calls.ts';
import { findStarterModel } from './find-starter-model.ts';
import { registerStarterModel } from './register-starters.ts';

const server = await testServer();
const { get, upload, download } = assetCalls(server);

let ada: TestUser;
let bob: TestUser;
beforeAll(async () => {
  [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
});

const model = (localPath: string) => ({
  slug: 'tiny',
  task: 'text' as const,
  title: 'Tiny model',
  details: 'Small',
  category: 'Artificial intelligence',
  tags: ['starter'],
  files: [{ path: 'README.md', localPath }],
});

test('every user can read a starter model and none can change it; registering it again changes nothing', async () => {
  const local = path.join(import.meta.dirname, 'find-starter-model.ts');
  const first = await registerStarterModel(server.services, model(local));
  const [again, third] = await Promise.all(
    [1, 2].map(() => registerStarterModel(server.services, model(local))),
  );
  expect([again, third]).toEqual([first, first]);

  for (const user of [ada, bob]) {
    expect(await get(user, first.assetId)).toMatchObject({
      is_starter: true,
      starter_task: 'text',
      user_id: null,
      owner_username: 'bakehouse',
      file_count: 1,
    });
    expect((await download(user, first.assetId, 'README.md')).status).toBe(200);
    const { datasets } = await server.request(
      contract.listAssets,
      { query: { types: 'MODEL', owner: user.userId, include_starter: 'true' } },
      { as: user },
    );
    expect(datasets.map((asset) => asset.dataset_id)).toContain(first.assetId);
    const change = server.request(
      contract.updateAsset,
      { params: { id: first.assetId }, body: { title: 'Mine' } },
      { as: user },
    );
    await expect(change).rejects.toMatchObject({ status: 403 });
    expect((await upload(user, first.assetId, 'a.txt', 'x')).status).toBe(403);
    expect(
      (await server.send(contract.deleteAsset, { params: { id: first.assetId } }, { as: user })).status,
    ).toBe(403);
  }
  expect(await findStarterModel(server.services.db, 'tiny')).toMatchObject({
    assetId: first.assetId,
    title: 'Tiny model',
  });

  const changed = await registerStarterModel(server.services, model(import.meta.filename));
  expect(changed.assetId).toBe(first.assetId);
  expect(changed.revisionId).not.toBe(first.revisionId);
});
