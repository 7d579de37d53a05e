import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { imageCalls } from '@bakehouse/contract/deployments/images';
import {
  cancelGeneration,
  deleteGeneration,
  listGenerations,
  startGeneration,
} from '@bakehouse/contract/generations';
import { uploadPicture } from '@bakehouse/contract/media';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { testGenerations } from '../../../testing/test-generations.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { insertFlux } from '../../deployments/testing/test-models.ts';
import { registerImageStarter } from '../../models/starter/register-starters.ts';
import { pictureFiles } from '../testing/picture-files.ts';

/* Queues are independent: each model server has its own places. */

const setting = await testGenerations({ cpuPlaces: 12 });
const { server, stub } = setting;

let ada: TestUser;
let bob: TestUser;
beforeEach(async () => {
  stub.answer = 'hang';
  ada = await server.signUp('Ada');
  bob = await server.signUp('Bob');
});
afterEach(async () => {
  for (const as of [ada, bob]) await cancelAll(as);
});

const list = async (as: TestUser, query = {}) =>
  (await server.request(listGenerations, { params: { userId: as.userId }, query }, { as })).generations;
const cancelAll = async (as: TestUser) => {
  for (const { id } of await list(as)) await server.request(cancelGeneration, { params: { id } }, { as });
};
/** Requests an edit. The user's deployment serves it, or else the starter. */
const edit = async (as: TestUser) => {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(pictureFiles.png)]), 'bread.png');
  const sent = await fetch(server.url + uploadPicture.path, {
    ...{ method: 'POST', body: form, headers: { 'x-api-key': as.apiKey } },
  });
  const { id } = (await sent.json()) as { id: string };
  const body = { generator: 'flux-kontext' as const, prompt: 'Make it blue', picture_id: id, parameters: {} };
  return server.request(startGeneration, { body }, { as });
};
const deploy = (as: TestUser, modelId: string) =>
  server.request(
    imageCalls['flux-kontext'].deploy,
    { body: { model_id: modelId, user_id: as.userId } },
    { as },
  );
const untilRunning = (as: TestUser, count: number) =>
  vi.waitFor(async () => expect(await list(as, { state: 'running' })).toHaveLength(count));
/** Oldest first. */
const positions = async (as: TestUser) =>
  (await list(as, { state: 'queued' })).map(({ position }) => position).toReversed();

test('a stalled deployment blocks no places of the starters, and its owner may use all of its places', async () => {
  await deploy(ada, (await insertFlux(server.services, ada, 'My editor')).assetId);
  await deploy(bob, (await insertFlux(server.services, bob, 'His editor')).assetId);
  for (let asked = 0; asked < 5; asked += 1) await edit(ada);
  await untilRunning(ada, 4);
  expect(await positions(ada)).toEqual([0]);

  await edit(bob);
  await untilRunning(bob, 1);
  stub.answer = 'ok';
  const eve = await server.signUp('Eve');
  const [generated, edited] = [await setting.generate(eve), await edit(eve)];
  for (const { id } of [generated, edited]) await setting.until(eve, id, 'completed');
  expect(await positions(ada)).toEqual([0]);
});

test('generations fail at no cost, with the reason, if the deployment they wait for ends', async () => {
  const { pod_id: podId } = await deploy(ada, (await insertFlux(server.services, ada, 'My editor')).assetId);
  for (let asked = 0; asked < 5; asked += 1) await edit(ada);
  await untilRunning(ada, 4);
  const [waiting] = await list(ada, { state: 'queued' });
  const query = { user_id: ada.userId };
  await server.request(imageCalls['flux-kontext'].terminate, { params: { podId }, query }, { as: ada });
  for (const { id } of await list(ada, { state: 'running' }))
    await server.request(cancelGeneration, { params: { id } }, { as: ada });
  const reason = 'The deployment that was to generate it has ended';
  expect(await setting.until(ada, waiting?.id ?? '', 'failed')).toMatchObject({ reason, cost: '0' });
});

test('starters wait neither for each other nor for deployments', async () => {
  for (let asked = 0; asked < 5; asked += 1) await edit(ada);
  await untilRunning(ada, 3);
  for (let asked = 0; asked < 5; asked += 1) await setting.generate(bob);
  await untilRunning(bob, 3);
  expect([await positions(ada), await positions(bob)]).toEqual([
    [0, 1],
    [0, 1],
  ]);
});

test('deployments of a starter share its slots fairly', async () => {
  const index = path.join(server.services.config.dataDir, 'flux_index.json');
  await writeFile(index, JSON.stringify({ _class_name: 'FluxKontextPipeline' }));
  const { assetId } = await registerImageStarter(server.services, 'kontext', [
    { path: 'model_index.json', localPath: index },
    { path: 'transformer/config.json', localPath: index },
  ]);
  await deploy(ada, assetId);
  for (let asked = 0; asked < 5; asked += 1) await edit(ada);
  await untilRunning(ada, 3);
  expect((await list(ada))[0]?.model).not.toBe('kontext-starter');

  // The last slot is reserved for users without a running picture, so Bob gets it. His second picture is
  // ahead of Ada's.
  await edit(bob);
  await untilRunning(bob, 1);
  expect(await edit(bob)).toMatchObject({ model: 'kontext-starter', position: 0 });
  expect(await positions(ada)).toEqual([1, 2]);
});

test('deleting outputs does not improve queue position', async () => {
  stub.answer = 'ok';
  for (const as of [ada, bob]) {
    const { id } = await setting.generate(as);
    await setting.until(as, id, 'completed');
    setting.clock.advance({ seconds: 1 });
  }
  stub.answer = 'hang';
  const [eve, carl] = [await server.signUp('Eve'), await server.signUp('Carl')];
  for (let asked = 0; asked < 3; asked += 1) await setting.generate(eve);
  await untilRunning(eve, 3);
  await setting.generate(carl);
  await untilRunning(carl, 1);

  // Bob had the last turn and has no outputs left.
  for (const { id } of await list(bob))
    await server.request(deleteGeneration, { params: { id } }, { as: bob });
  await setting.generate(bob);
  await setting.generate(ada);
  expect([await positions(ada), await positions(bob)]).toEqual([[0], [1]]);
  for (const as of [eve, carl]) await cancelAll(as);
});

test('notifies only users about a queue change', async () => {
  const { id } = await setting.generate(ada);
  await untilRunning(ada, 1);
  // Both changes are published by the same statement.
  const { rows } = await vi.waitFor(async () => {
    const kept = await sql<{ is_user: boolean; thing_id: string }>`
      select thing_id, exists (select from users where users.id = user_id) as is_user
      from recent_changes where topic = 'generation'`.execute(server.services.db);
    expect(kept.rows).toContainEqual({ thing_id: id, is_user: true });
    return kept;
  });
  expect(rows.filter((row) => !row.is_user)).toEqual([]);
});
