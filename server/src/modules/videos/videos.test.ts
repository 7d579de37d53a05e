import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { createApiKey, revokeApiKey } from '@bakehouse/contract/api-keys';
import { getImageDeployment, imageCalls } from '@bakehouse/contract/deployments/images';
import { getGeneration, startGeneration } from '@bakehouse/contract/generations';
import { WAN_STARTER } from '@bakehouse/contract/generators/wan';
import {
  createVideo,
  deleteVideo,
  downloadVideo,
  estimateVideo,
  getVideo,
  listVideos,
  type Video,
} from '@bakehouse/contract/videos';
import { beforeEach, expect, test, vi } from 'vitest';
import { storeBlob } from '../../platform/storage/store-blob.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { testGenerations } from '../../testing/test-generations.ts';
import { insertWan } from '../deployments/testing/test-models.ts';
import { pictureFiles } from '../generations/testing/picture-files.ts';

const clock = fakeClock();
const { server, stub, driver } = await testGenerations({ cpuPlaces: 12, clock });
const ada = await server.signUp('Ada');
const { assetId } = await insertWan(server.services, ada, 'My Video');
await server.request(
  imageCalls.wan.deploy,
  { body: { model_id: assetId, user_id: ada.userId } },
  { as: ada },
);
beforeEach(() => stub.startAnew());

const create = (body: object = {}) =>
  server.request(
    createVideo,
    { body: { model: 'seedance-1-0-pro', prompt: 'A loaf rises', ...body } },
    { as: ada },
  );
const read = (id: string): Promise<Video> => server.request(getVideo, { params: { id } }, { as: ada });
const until = (id: string, status: Video['operation']['status']) =>
  vi.waitFor(
    async () => {
      const video = await read(id);
      // The clock is fixed. Advance it only between attempts: a running attempt would lose its lease.
      if (video.operation.status === 'queued') clock.advance({ seconds: 1 });
      expect(video.operation.status).toBe(status);
      return video;
    },
    { interval: 30 },
  );
const statusOf = async (answer: Promise<Response>) => (await answer).status;

test('without a service, a Wan deployment generates what it supports; the answer reports the requested and the actual settings', async () => {
  const image = `data:image/png;base64,${pictureFiles.png.toString('base64')}`;
  const { id } = await create({
    ...{ duration: 10, aspect_ratio: '9:16', quality: '1080p', negative_prompt: 'rain', image },
    ...{ enhance_prompt: true, generate_audio: true, seed: 5, safety_settings: { safety_level: 'medium' } },
  });
  const video = await until(id, 'completed');
  expect(stub.requests.at(-1)).toMatchObject({
    ...{ prompt: 'A loaf rises', negative_prompt: 'rain', seconds: 10, width: 1088, height: 1920, seed: 5 },
    ...{ steps: 30, guidance: 5, picture: pictureFiles.png.toString('base64') },
  });
  expect(video).toMatchObject({
    ...{ object: 'video.generation', model: 'seedance-1-0-pro', prompt: 'A loaf rises', duration: 10 },
    ...{ quality: '1080p', aspect_ratio: '9:16', generate_audio: false, seed: 5 },
    image: expect.stringMatching(/^http/),
    served_by: { kind: 'deployment', name: 'my-video' },
    choices: [{ duration: 2.5, width: 96, height: 64, has_audio: false, finish_reason: 'completed' }],
  });
  expect(video.created).toBeGreaterThan(1_000_000_000);
  expect(video.choices[0]?.thumbnail_url).toMatch(/\.webp/);
  const generation = await server.request(getGeneration, { params: { id } }, { as: ada });
  // The quote was for 10 s at 1080p; the charge is for the actual output.
  expect(generation.cost).toBe('0.025');
  expect(generation.outputs).toMatchObject([
    { media_type: 'video/mp4', duration_s: 2.5, frames: 30, has_audio: false, strip_url: expect.any(String) },
  ]);
  expect(generation.source).toMatchObject({ width: 6, height: 4 });
});

test('a completed video can be downloaded whole or in ranges', async () => {
  stub.answer = 'hang';
  const { id } = await create();
  await until(id, 'processing');
  const early = await server.send(downloadVideo, { params: { id } }, { as: ada });
  expect([early.status, await early.json()]).toMatchObject([
    400,
    { error: { message: 'Video not ready for download' } },
  ]);
  // The generation may not have started yet.
  stub.answer = 'ok';
  stub.letGo();
  await until(id, 'completed');
  const whole = await server.send(downloadVideo, { params: { id } }, { as: ada });
  expect(whole.headers.get('content-type')).toBe('video/mp4');
  expect(whole.headers.get('content-disposition')).toMatch(/^attachment; filename\*=UTF-8''seedance-/);
  expect(Buffer.from(await whole.arrayBuffer()).toString('latin1', 4, 8)).toBe('ftyp');
});

test('revoking an API key aborts a download that uses it', async () => {
  const { id } = await create();
  await until(id, 'completed');
  // Too large for the buffers of both sides.
  const size = 64 * 1024 * 1024;
  const { sha256 } = await storeBlob(server.services, Readable.from([Buffer.alloc(size)]));
  await server.services.db
    .updateTable('generation_outputs')
    .set({ sha256, size_bytes: BigInt(size) })
    .where('generation_id', '=', id)
    .execute();
  const made = { params: { userId: ada.userId }, body: { name: 'program' } };
  const { api_key: key, secret } = await server.request(createApiKey, made, { as: ada });
  const response = await server.send(downloadVideo, { params: { id } }, { as: { ...ada, apiKey: secret } });
  expect(response.headers.get('content-length')).toBe(String(size));
  await server.request(revokeApiKey, { params: { keyId: key.id } }, { as: ada });
  const reader = response.body?.getReader();
  // At this pace, the whole file would take half a minute.
  const readSlowly = async () => {
    while (!(await reader?.read())?.done) await pause(30);
  };
  await expect(readSlowly()).rejects.toThrow('terminated');
});

test('lists videos newest first, in pages, optionally of one model, and no pictures', async () => {
  const ids: string[] = [];
  for (const model of ['seedance', 'veo-3.0', 'kling']) ids.unshift((await create({ model })).id);
  for (const id of ids) await until(id, 'completed');
  await server.request(startGeneration, { body: { generator: 'paris', prompt: 'Bread' } }, { as: ada });
  const list = (query: object = {}) => server.request(listVideos, { query }, { as: ada });
  expect((await list()).data.slice(0, 3).map(({ id }) => id)).toEqual(ids);
  const [newest, ...others] = (await list({ model_name: 'seedance', limit: 20 })).data;
  expect(newest?.id).toBe(ids[2]);
  expect(others.every(({ model }) => model === 'seedance-1-0-pro')).toBe(true);
  const first = await list({ limit: 2 });
  expect(first.next_cursor).toBe(ids[1]);
  expect((await list({ limit: 1, cursor: ids[1] })).data.map(({ id }) => id)).toEqual([ids[2]]);
  await expect(list({ model_name: 'oven' })).rejects.toMatchObject({ status: 400 });
  expect((await list({ model_name: 'my-video' })).data.length).toBeGreaterThan(2);
  expect((await list({ model_name: WAN_STARTER })).data).toEqual([]);
});

test('only its owner can see or delete a video', async () => {
  const { id } = await create();
  await until(id, 'completed');
  const bob = await server.signUp('Bob');
  const picture = await server.request(
    startGeneration,
    { body: { generator: 'paris', prompt: 'Bread' } },
    { as: ada },
  );
  for (const params of [{ id }, { id: randomUUID() }]) {
    for (const endpoint of [getVideo, deleteVideo, downloadVideo])
      expect(await statusOf(server.send(endpoint, { params }, { as: bob }))).toBe(404);
  }
  const missing = await server.send(getVideo, { params: { id: picture.id } }, { as: ada });
  expect([missing.status, await missing.json()]).toMatchObject([
    404,
    { error: { message: 'Video not found' } },
  ]);
  expect(await statusOf(server.send(deleteVideo, { params: { id } }, { as: ada }))).toBe(204);
  expect(await statusOf(server.send(getVideo, { params: { id } }, { as: ada }))).toBe(404);
});

test.each([
  [{ prompt: ' ' }, 'prompt', 'Please enter a prompt'],
  [{ model: 'oven' }, 'model', /^model must be one of veo-3\.0, kling, hailuo, /],
  [{ duration: 7 }, 'duration', 'Duration must be one of 5, 10'],
  [{ duration: 3_600 }, 'duration', /60/],
  [{ aspect_ratio: '5:1' }, 'aspect_ratio', /^Aspect ratio must be one of /],
  [{ model: 'veo', aspect_ratio: '9:16' }, 'aspect_ratio', 'aspect_ratio must be 16:9 for Veo 3'],
  [{ seed: -1 }, 'seed', /./],
  [{ image: 'data:text/plain;base64,YQ==' }, 'image', 'The picture must be a PNG, JPEG or WebP file'],
  [{ image: 'http://127.0.0.1/a.png' }, 'image', /must be a public http or https address/],
])('refuses %j by name at no cost', async (body, param, message) => {
  const whole = { model: 'seedance', prompt: 'Bread', ...body };
  const count = async () =>
    (await server.request(listVideos, { query: { limit: 100 } }, { as: ada })).data.length;
  const before = await count();
  const answer = await server.send(createVideo, { body: whole }, { as: ada });
  const { error } = (await answer.json()) as { error: { param: string; message: string } };
  expect([answer.status, error.param]).toEqual([400, param]);
  expect(error.message).toMatch(message);
  expect(await count()).toBe(before);
});

test('retries a video whose response breaks off, and finally fails with the reason at no cost', async () => {
  stub.answer = 'error';
  const { id } = await create({ model: 'hailuo' });
  const failed = await until(id, 'failed');
  expect(failed).toMatchObject({
    error_details: 'The picture has no end.',
    choices: [{ finish_reason: 'error' }],
  });
});

test('a Wan video is charged by steps, duration and size, like its estimate', async () => {
  const estimate = await server.request(
    estimateVideo,
    { body: { model: 'veo-3.0', duration: 8 } },
    { as: ada },
  );
  expect(estimate).toMatchObject({ estimated_cost_usd: 0.048, estimated_cost_bgl: 1.2 });
});

test('the starter generates what it supports at the price of its output; its deployment also replaces other models', async () => {
  const cy = await server.signUp('Cy');
  const fixed: object = { duration: '2', aspect_ratio: '1:1', quality: '64p' };
  const made = async (body: object, { parameters = fixed, steps = 30 } = {}) => {
    const asked = { prompt: 'A frog spins', model: 'wan', ...body };
    const { id } = await server.request(createVideo, { body: asked }, { as: cy });
    await vi.waitFor(async () => {
      expect(await server.request(getGeneration, { params: { id } }, { as: cy })).toMatchObject({
        ...{ state: 'completed', cost: '0.025', parameters },
      });
    });
    expect(stub.requests.at(-1)).toMatchObject({ seconds: 2, width: 64, height: 64, steps });
    return server.request(getVideo, { params: { id } }, { as: cy });
  };
  const byStarter = { kind: 'starter', name: WAN_STARTER };
  const left = { duration: 5, aspect_ratio: '16:9' };
  expect(await made({})).toMatchObject({ model: WAN_STARTER, ...left, served_by: byStarter });
  expect(await made({ model: WAN_STARTER })).toMatchObject({ served_by: byStarter });
  // The answer has the requested settings and the properties of the actual output.
  const asSpecified = { parameters: { ...fixed, generate_audio: false }, steps: 16 };
  const veo = { model: 'veo-3.0', duration: 8, quality: 'fhd' };
  expect(await made(veo, asSpecified)).toMatchObject({
    ...{ ...veo, served_by: byStarter },
    choices: [{ has_audio: false, duration: expect.any(Number) }],
  });

  const body = { model_id: WAN_STARTER, user_id: cy.userId };
  const { pod_id: podId } = await server.request(imageCalls.wan.deploy, { body }, { as: cy });
  const { title, model_name: name } = await server.request(
    getImageDeployment,
    { params: { podId } },
    { as: cy },
  );
  expect(title).toBe('Wan starter');
  expect(await made(veo, asSpecified)).toMatchObject({ ...veo, served_by: { kind: 'deployment', name } });
  for (const asked of [
    veo,
    { model: 'kling', aspect_ratio: '9:16' },
    { model: 'hailuo', duration: 6 },
    { model: 'seedance-1-0-pro', duration: 10, quality: '1080p' },
  ]) {
    const estimate = await server.request(estimateVideo, { body: asked }, { as: cy });
    expect(estimate).toMatchObject({ estimated_cost_bgl: 0.025 });
  }
  const query = { model_name: WAN_STARTER };
  const { data } = await server.request(listVideos, { query }, { as: cy });
  expect(data.map(({ served_by }) => served_by)).toEqual([byStarter, byStarter, byStarter]);
  expect(driver.running().map(({ spec }) => spec)).toContainEqual(
    expect.objectContaining({ task: 'image', engine: 'wan' }),
  );
});

test('a Wan deployment is called by its name, only by its owner', async () => {
  const { id } = await create({ model: 'my-video', duration: 3 });
  expect(await until(id, 'completed')).toMatchObject({ model: 'my-video', duration: 3 });
  const bob = await server.signUp('Bob');
  const body = { model: 'my-video', prompt: 'Bread' };
  expect((await server.send(createVideo, { body }, { as: bob })).status).toBe(400);
});
