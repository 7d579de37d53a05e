import { getBalance, listTransactions } from '@bakehouse/contract/credits';
import { startGeneration } from '@bakehouse/contract/generations';
import { createVideo, deleteVideo, estimateVideo, getVideo, type Video } from '@bakehouse/contract/videos';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Config } from '../../config.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { onFileEnd } from '../../testing/on-file-end.ts';
import { type TestUser, testServer } from '../../testing/test-server.ts';
import { createGenerationLoop } from '../generations/run/run-generation.ts';
import { pictureFiles } from '../generations/testing/picture-files.ts';
import { type VideoAnswer, videoServices } from './testing/video-services.ts';

const services = await videoServices();
const none = { fal: null, replicate: null, blackForestLabs: null, byteplus: null, google: null };
const upstreams: Config['upstreams'] = { ...none };
const clock = fakeClock();
const server = await testServer({ clock, config: { upstreams, startingGrantBgl: '1000' } });
const startLoop = () => {
  const serving = { capacity: async () => ({}), usage: server.app.usage };
  const loop = createGenerationLoop({
    ...{ services: server.services, serving, pollMs: 50 },
    places: { own: 4, upstream: 4 },
  });
  loop.start();
  return loop;
};
let loop = startLoop();
onFileEnd(async () => {
  await loop.stop();
  services.close();
});

let ada: TestUser;
beforeEach(async () => {
  ada = await server.signUp('Ada');
  Object.assign(services.state, { answer: 'ok', calls: [], fileKeys: [] });
});

/** Configures a key for only this service. */
function connect(name: keyof typeof none) {
  Object.assign(upstreams, none, { [name]: services.access });
}

const create = (body: object) =>
  server.request(createVideo, { body: { model: 'veo', prompt: 'A loaf rises', ...body } }, { as: ada });
const read = (id: string): Promise<Video> => server.request(getVideo, { params: { id } }, { as: ada });
const until = (id: string, status: Video['operation']['status']) =>
  vi.waitFor(
    async () => {
      clock.advance({ seconds: 1 });
      const video = await read(id);
      expect(video.operation.status).toBe(status);
      return video;
    },
    { interval: 50 },
  );

/** Requests that the original product's page of services shows. */
const seedance = {
  ...{ model: 'seedance-1-0-pro', duration: 5, aspect_ratio: '16:9', quality: '720p', generate_audio: false },
  ...{ negative_prompt: 'blurry, distorted', enhance_prompt: true, seed: 7 },
  safety_settings: { safety_level: 'medium', person_generation: 'allow' },
};
const veo = { model: 'veo-3.0', duration: 8, aspect_ratio: '16:9', quality: 'hd', generate_audio: true };
const image = `data:image/png;base64,${pictureFiles.png.toString('base64')}`;

test('Seedance receives its supported fields; the answer reports the ignored ones', async () => {
  connect('byteplus');
  const started = await create({ ...seedance, image });
  expect(started.served_by).toMatchObject({ kind: 'service', name: 'BytePlus' });
  // The job may start before the answer is sent.
  expect(['queued', 'processing']).toContain(started.operation.status);
  const done = await until(started.id, 'completed');
  const [submitted] = services.state.calls;
  expect(submitted).toMatchObject({ method: 'POST', path: '/api/v3/contents/generations/tasks' });
  expect(submitted?.body).toEqual({
    model: 'seedance-1-0-pro-250528',
    content: [
      { type: 'text', text: 'A loaf rises' },
      { type: 'image_url', image_url: { url: image }, role: 'first_frame' },
    ],
    ...{ ratio: 'adaptive', resolution: '720p', duration: 5, seed: 7, watermark: false, camera_fixed: false },
  });
  expect(done).toMatchObject({
    ...{ model: 'seedance-1-0-pro', duration: 5, quality: '720p', aspect_ratio: '16:9', seed: 7 },
    ...{ negative_prompt: null, enhance_prompt: false, generate_audio: false, error_details: null },
    choices: [
      {
        status: 'completed',
        finish_reason: 'completed',
        progress_percentage: 100,
        has_audio: true,
        duration: 8,
      },
    ],
  });
  const file = await fetch(done.choices[0]?.video_url ?? '', { headers: { range: 'bytes=4-7' } });
  expect([file.status, await file.text()]).toEqual([206, 'ftyp']);
});

test('Veo runs as an operation of the Gemini API, and its file is downloaded with the key', async () => {
  connect('google');
  const safety_settings = { person_generation: 'allow' };
  const { id } = await create({ ...veo, negative_prompt: 'crumbs', safety_settings, image });
  const done = await until(id, 'completed');
  expect(services.state.calls[0]).toEqual({
    method: 'POST',
    path: '/v1beta/models/veo-3.0-generate-001:predictLongRunning',
    key: services.access.key,
    body: {
      instances: [
        {
          prompt: 'A loaf rises',
          image: { mimeType: 'image/png', bytesBase64Encoded: pictureFiles.png.toString('base64') },
        },
      ],
      parameters: {
        ...{ durationSeconds: 8, resolution: '720p', negativePrompt: 'crumbs', aspectRatio: '16:9' },
        personGeneration: 'allow_adult',
      },
    },
  });
  expect(services.state.fileKeys).toEqual([services.access.key]);
  expect(done).toMatchObject({
    ...{ model: 'veo-3.0', duration: 8, quality: 'hd', generate_audio: true },
    ...{ negative_prompt: 'crumbs', enhance_prompt: false },
  });
});

test('uses another model of fal for a request with a picture', async () => {
  connect('fal');
  const { id } = await create({ model: 'kling', image });
  await until(id, 'completed');
  expect(services.state.calls[0]).toMatchObject({
    path: '/fal-ai/kling-video/v2.5-turbo/pro/image-to-video',
    body: { duration: '5', aspect_ratio: '16:9', image_url: image },
  });
  expect(services.state.fileKeys).toEqual([undefined]);
});

test.each([
  [seedance, { enable_safety_checker: true }, false],
  [{ ...veo, enhance_prompt: false }, { enhance_prompt: false }, false],
  [veo, { enhance_prompt: true }, true],
])('sends fal the fields of %j that its model supports', async (body, told, enhance_prompt) => {
  connect('fal');
  const { id } = await create(body);
  expect(await until(id, 'completed')).toMatchObject({ enhance_prompt });
  expect(services.state.calls[0]?.body).toMatchObject(told);
});

const allowlist =
  'Video generation not available for your account. Please contact support for allowlist access.';

describe.each([['google', 'veo'] as const, ['byteplus', 'seedance'] as const])('%s', (service, model) => {
  const failures: [VideoAnswer, string | RegExp, string][] = [
    ['moderated', / rejected the prompt or the result under its content policy\.$/, 'content_filter'],
    ['failed', / could not generate this\.$/, 'error'],
    ['nothing', / returned no video\.$/, 'error'],
    ['no video', / generated it, but the file it returned is not a complete video\.$/, 'error'],
    ['dead link', / generated it, but its video could not be fetched\.$/, 'error'],
    ...(service === 'google'
      ? ([
          ['not allowed', allowlist, 'error'],
          ['not offered', allowlist, 'error'],
        ] satisfies [VideoAnswer, string, string][])
      : ([['expired', / could not generate this\.$/, 'error']] satisfies [VideoAnswer, RegExp, string][])),
  ];
  test.each(failures)(
    'an answer of %s costs nothing and is reported with its reason',
    async (answer, said, reason) => {
      connect(service);
      services.state.answer = answer;
      const { id } = await create({ model });
      const failed = await until(id, 'failed');
      expect(failed.choices[0]).toMatchObject({ status: 'failed', finish_reason: reason, video_url: null });
      expect(failed.error_details).toMatch(said);
      expect(failed.data).toEqual([]);
      const params = { userId: ada.userId };
      expect((await server.request(getBalance, { params }, { as: ada })).held).toBe('0');
    },
  );
});

test('continues to wait for an operation after a restart, instead of starting another one', async () => {
  connect('google');
  services.state.answer = 'waiting';
  const { id } = await create({});
  const looks = () => services.state.calls.filter(({ method }) => method === 'GET').length;
  await vi.waitFor(() => expect(looks()).toBeGreaterThan(0));
  await loop.stop();
  services.state.answer = 'ok';
  loop = startLoop();
  await until(id, 'completed');
  expect(services.state.calls.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

test('deleting a waiting video cancels it at BytePlus, but not at Veo, which has no cancel', async () => {
  const begin = async (service: 'byteplus' | 'google', model: string) => {
    connect(service);
    Object.assign(services.state, { answer: 'waiting', calls: [] });
    const { id } = await create({ model });
    await vi.waitFor(() => expect(services.state.calls.length).toBeGreaterThan(1));
    return server.send(deleteVideo, { params: { id } }, { as: ada });
  };
  expect((await begin('byteplus', 'seedance')).status).toBe(204);
  expect(services.state.calls).toContainEqual(
    expect.objectContaining({ method: 'DELETE', path: '/api/v3/contents/generations/tasks/cgt-2026-1' }),
  );
  const refusal = await begin('google', 'veo');
  expect([refusal.status, await refusal.text()]).toEqual([
    409,
    expect.stringContaining('Google has started on this video and cannot cancel it'),
  ]);
  services.state.answer = 'ok';
});

test.each([
  ['google', { model: 'veo', duration: 8, generate_audio: true }, 6],
  ['google', { model: 'veo', duration: 4, generate_audio: false }, 3],
  ['fal', { model: 'veo-3.0', duration: 8, generate_audio: false }, 4],
  ['byteplus', { model: 'seedance', quality: '1080p', duration: 10 }, 1.5],
  ['byteplus', { model: 'seedance', quality: 'ultra' }, 0.3],
] as const)('%s: %j is estimated at %d USD', async (service, body, usd) => {
  connect(service);
  const estimate = await server.request(estimateVideo, { body }, { as: ada });
  expect(estimate).toMatchObject({ estimated_cost_usd: usd, currency: 'USD', is_free: false });
});

test('refuses what Google would refuse, before credits are held', async () => {
  connect('google');
  const body = { model: 'veo', prompt: 'Bread', quality: 'fhd', duration: 4 };
  const answer = await server.send(createVideo, { body }, { as: ada });
  expect([answer.status, await answer.json()]).toMatchObject([
    400,
    { error: { param: 'duration', message: 'Duration must be 8 if Quality is fhd' } },
  ]);
});

test('charges a video by its seconds, and lists it with the videos on the bill', async () => {
  connect('byteplus');
  const parameters = { duration: '10', quality: '480p' };
  const started = await server.request(
    startGeneration,
    { body: { generator: 'seedance', prompt: 'Bread', parameters } },
    { as: ada },
  );
  expect(started.cost).toBe('7.5');
  await until(started.id, 'completed');
  const call = { params: { userId: ada.userId }, query: {} };
  const { transactions, summary } = await server.request(listTransactions, call, { as: ada });
  expect(transactions[0]).toMatchObject({ description: 'Video by Seedance 1.0 Pro', amount: '7.5' });
  expect(summary).toMatchObject({ total_cost_video_generations: '7.5', total_cost_image_generations: '0' });
});
