import { getImageDeployment, imageCalls } from '@bakehouse/contract/deployments/images';
import { listGenerations } from '@bakehouse/contract/generations';
import { pollParis } from '@bakehouse/contract/paris';
import OpenAI, { toFile } from 'openai';
import { beforeEach, expect, test } from 'vitest';
import { testGenerations } from '../../../testing/test-generations.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { insertFlux } from '../../deployments/testing/test-models.ts';
import { pictureFiles } from '../testing/picture-files.ts';

/* Calls repeated with their Idempotency-Key after the resources they name are gone. */

// Each deployment has a separate model server.
const setting = await testGenerations({ cpuPlaces: 12 });
const { server, stub, clock } = setting;

let ada: TestUser;
beforeEach(async () => {
  stub.startAnew();
  ada = await server.signUp('Ada');
});

const ids = async () => {
  const params = { userId: ada.userId };
  const { generations } = await server.request(listGenerations, { params, query: {} }, { as: ada });
  return generations.map(({ id }) => id);
};
const deploy = async (endpoint: typeof imageCalls.flux.deploy) => {
  const { assetId } = await insertFlux(server.services, ada, 'My painter');
  const body = { model_id: assetId, user_id: ada.userId };
  const { pod_id: podId } = await server.request(endpoint, { body }, { as: ada });
  const { model_name, inference_url } = await server.request(
    getImageDeployment,
    { params: { podId } },
    { as: ada },
  );
  const query = { user_id: ada.userId };
  const end = () => server.request(imageCalls.flux.terminate, { params: { podId }, query }, { as: ada });
  return { model: model_name, path: new URL(inference_url ?? '').pathname, end };
};
const send = async (path: string, body: FormData | URLSearchParams, key: string) => {
  const headers = { 'x-api-key': ada.apiKey, 'idempotency-key': key };
  const answer = await fetch(server.url + path, { method: 'POST', body, headers });
  const json = (await answer.json()) as { image_id?: string; url?: string; error?: { code: string } };
  return { status: answer.status, id: json.image_id, url: json.url, code: json.error?.code };
};
const form = (file: Buffer, prompt = 'Make it blue') => {
  const body = new FormData();
  body.append('prompt', prompt);
  body.append('file', new Blob([new Uint8Array(file)]), 'bread.png');
  return body;
};
const openai = () => new OpenAI({ baseURL: `${server.url}/v1`, apiKey: ada.apiKey, maxRetries: 0 });
const headers = { 'idempotency-key': 'mine' };
const conflict = { status: 409, code: 'idempotency_conflict' };

test("a picture over OpenAI's images API stays the same after its deployment has ended", async () => {
  const { model, end } = await deploy(imageCalls.flux.deploy);
  const ask = (prompt = 'Bread', named = model) =>
    openai().images.generate({ prompt, model: named, response_format: 'b64_json' }, { headers });
  const first = await ask();
  const generated = await ids();
  expect(generated).toHaveLength(1);
  await end();
  expect(await ask()).toEqual(first);
  await expect(ask('Cake')).rejects.toMatchObject(conflict);
  await expect(ask('Bread', 'another')).rejects.toMatchObject(conflict);
  expect(await ids()).toEqual(generated);
  expect(stub.requests).toHaveLength(1);
});

test("an edit over OpenAI's images API stays the same after its deployment has ended", async () => {
  const { model, end } = await deploy(imageCalls['flux-kontext'].deploy);
  const ask = async (file = pictureFiles.png) =>
    openai().images.edit(
      { prompt: 'Make it blue', model, image: await toFile(file, 'bread'), response_format: 'b64_json' },
      { headers },
    );
  const first = await ask();
  await end();
  expect(await ask()).toEqual(first);
  await expect(ask(pictureFiles.jpeg)).rejects.toMatchObject(conflict);
  expect(await ids()).toHaveLength(1);
});

test('an edit stays the same after its deployment has ended; another picture or prompt is rejected', async () => {
  const { path, end } = await deploy(imageCalls['flux-kontext'].deploy);
  const inline = `data:image/png;base64,${pictureFiles.png.toString('base64')}`;
  const byAddress = (image_url: string) =>
    send(`${path}/edit_url`, new URLSearchParams({ prompt: 'Make it blue', image_url }), 'by address');
  const first = await send(`${path}/edit`, form(pictureFiles.png), 'by upload');
  const second = await byAddress(inline);
  expect([first.status, second.status]).toEqual([200, 200]);
  await end();
  expect(await send(`${path}/edit`, form(pictureFiles.png), 'by upload')).toEqual(first);
  expect(await byAddress(inline)).toEqual(second);
  expect(await send(`${path}/edit`, form(pictureFiles.jpeg), 'by upload')).toMatchObject(conflict);
  expect(await send(`${path}/edit`, form(pictureFiles.png, 'Make it red'), 'by upload')).toMatchObject(
    conflict,
  );
  expect(await byAddress(`${inline} `)).toMatchObject(conflict);
  expect(await send(`${path}/edit`, form(pictureFiles.png), 'a new one')).toMatchObject({
    status: 409,
    code: 'conflict',
  });
  expect(await ids()).toEqual([second.id, first.id]);
});

test('an edit by a link stays the same after the link has expired', async () => {
  const { url = '' } = await send('/api/v1/pictures', form(pictureFiles.png), 'upload');
  const image_url = new URL(url, server.url).href;
  const ask = (key: string) =>
    send(
      '/v1/starters/kontext-starter/edit_url',
      new URLSearchParams({ prompt: 'Make it blue', image_url }),
      key,
    );
  const first = await ask('mine');
  expect(first.status).toBe(200);
  clock.advance({ hours: 2 });
  expect(await ask('mine')).toEqual(first);
  expect((await ask('another')).status).toBe(410);
});

test('concurrent edits with one key are one edit', async () => {
  const { balance } = await setting.balance(ada);
  const path = '/v1/starters/kontext-starter/edit';
  const sent = await Promise.all([1, 2, 3, 4].map(() => send(path, form(pictureFiles.png), 'mine')));
  const [generated, ...others] = await ids();
  expect(others).toEqual([]);
  expect(sent.map(({ id }) => id)).toEqual([generated, generated, generated, generated]);
  expect(await setting.balance(ada)).toEqual({ balance: balance - 140_000n, held: 0n });
});

test('polling with one key returns the state of its picture', async () => {
  const poll = () =>
    server.request(pollParis, { body: { prompt: 'Bread' } }, { as: ada, idempotencyKey: 'mine' });
  stub.answer = 'hang';
  const { request_id, status } = await poll();
  expect(status).toBe('processing');
  stub.answer = 'ok';
  stub.letGo();
  await setting.until(ada, request_id, 'completed');
  clock.advance({ minutes: 11 });
  expect(await poll()).toMatchObject({ request_id, status: 'completed' });
  expect(await ids()).toEqual([request_id]);
});
