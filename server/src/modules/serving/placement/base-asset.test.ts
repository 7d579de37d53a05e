import { deleteAsset } from '@bakehouse/contract/assets';
import { listVllm } from '@bakehouse/contract/deployments/text';
import { beforeAll, expect, it } from 'vitest';
import { untilWaiting } from '../../../testing/test-database.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { type TestServing, testServing } from '../../../testing/test-serving.ts';
import { insertFineTune, insertModel } from '../../deployments/testing/test-models.ts';

let serving: TestServing;
let user: TestUser;

beforeAll(async () => {
  serving = await testServing();
  user = await serving.server.signUp();
});

const insertBase = () => insertModel(serving.server.services, user, 'Sourdough', { 'model.gguf': 'weights' });

it('the base of a live deployment cannot be deleted; the base of an ended one can', async () => {
  const { server } = serving;
  const base = await insertBase();
  const fineTune = await insertFineTune(server.services, base, user, 'Sourdough Talk');
  const podId = await serving.deploy(user, fineTune);
  const deleteModel = (id: string) => server.request(deleteAsset, { params: { id } }, { as: user });
  const deleteBase = () => deleteModel(base.assetId);
  await expect(deleteBase()).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining("deployed as 'sourdough-talk'"),
  });
  await serving.terminate(user, podId);
  await deleteModel(fineTune);
  await deleteBase();
});

it('refuses to deploy when its base is being deleted concurrently', async () => {
  const { server } = serving;
  const { db } = server.services;
  const base = await insertBase();
  const model = await insertFineTune(server.services, base, user, 'Too Late');
  let deploying: Promise<unknown> = Promise.resolve();
  await db.transaction().execute(async (tx) => {
    await tx.deleteFrom('assets').where('id', '=', base.assetId).execute();
    deploying = serving.deploy(user, model);
    deploying.catch(() => undefined);
    await untilWaiting(db);
  });
  await expect(deploying).rejects.toMatchObject({ status: 404 });
  const asked = { params: { userId: user.userId }, query: {} };
  expect((await server.request(listVllm, asked, { as: user })).pods).toEqual([]);
});
