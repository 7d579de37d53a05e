import { createApiKey, revokeApiKey } from '@bakehouse/contract/api-keys';
import { listModels } from '@bakehouse/contract/chat';
import { downloadImage } from '@bakehouse/contract/file-links';
import { cancelGeneration, deleteGeneration, listGenerations } from '@bakehouse/contract/generations';
import * as paris from '@bakehouse/contract/paris';
import OpenAI, { toFile } from 'openai';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { testGenerations } from '../../testing/test-generations.ts';
import type { TestUser } from '../../testing/test-server.ts';
import { PIXEL } from '../generations/testing/image-server.ts';

const setting = await testGenerations();
const { server, stub, clock } = setting;
const body = { prompt: 'A loaf of bread', num_inference_steps: 3, sampling_strategy: 'topk', k: 20 };

let ada: TestUser;
beforeEach(async () => {
  stub.startAnew();
  await setting.untilIdle();
  ada = await server.signUp('Ada');
});

async function makeKey(): Promise<{ id: string; secret: string }> {
  const made = { params: { userId: ada.userId }, body: { name: 'program' } };
  const { api_key: key, secret } = await server.request(createApiKey, made, { as: ada });
  return { id: key.id, secret };
}

async function revoke({ id }: { id: string }): Promise<void> {
  await server.request(revokeApiKey, { params: { keyId: id } }, { as: ada });
}

describe('the calls of the Paris page', () => {
  test('generate with supported parameters and wait for the picture', async () => {
    const answer = await server.request(paris.generateParisImage, { body }, { as: ada });
    expect(answer).toMatchObject({
      status: 'completed',
      images: [{ num_inference_steps: 10, k: 8, model: 'paris-ddm-v1.0' }],
    });
    const [image] = answer.images;
    expect(image).toMatchObject({
      generation_id: answer.request_id,
      expert_used: 3,
      s3_url: null,
      b64_json: null,
    });
    const call = { query: { url: image?.url ?? '', filename: 'bread.png' } };
    expect((await server.send(downloadImage, call)).status).toBe(200);
    const params = { userId: ada.userId };
    const { images } = await server.request(paris.listParisImages, { params }, { as: ada });
    expect(images).toMatchObject([{ id: image?.id, prompt: 'A loaf of bread' }]);

    await server.request(paris.deleteParisImage, { params: { id: image?.id ?? '' } }, { as: ada });
    expect((await server.request(paris.listParisImages, { params }, { as: ada })).images).toEqual([]);
    const again = server.request(paris.deleteParisImage, { params: { id: image?.id ?? '' } }, { as: ada });
    await expect(again).rejects.toMatchObject({
      status: 404,
      body: { error: { message: 'No picture has this id' } },
    });
  });

  test('find the running or recent picture of an identical request', async () => {
    const poll = () => server.send(paris.pollParis, { body }, { as: ada });
    const read = async (response: Response) =>
      (await response.json()) as { request_id: string; status: string };
    stub.answer = 'hang';
    const first = await poll();
    expect(first.status).toBe(202);
    const { request_id, status } = await read(first);
    expect(status).toBe('processing');
    expect((await read(await poll())).request_id).toBe(request_id);
    stub.answer = 'ok';
    stub.letGo();
    await setting.until(ada, request_id, 'completed');
    const done = await poll();
    expect([done.status, (await read(done)).request_id]).toEqual([200, request_id]);
    const bob = await server.signUp('Bob');
    const other = await read(await server.send(paris.pollParis, { body }, { as: bob }));
    expect(other.request_id).not.toBe(request_id);
    clock.advance({ minutes: 11 });
    expect((await read(await poll())).request_id, 'long ago').not.toBe(request_id);
  });

  test('start one picture for concurrent identical calls, and do not start another one after a cancel', async () => {
    stub.answer = 'hang';
    const poll = () => server.request(paris.pollParis, { body }, { as: ada });
    const ids = new Set((await Promise.all([1, 2, 3, 4].map(poll))).map(({ request_id }) => request_id));
    expect(ids.size).toBe(1);
    const [id = ''] = ids;
    await server.request(cancelGeneration, { params: { id } }, { as: ada });
    await expect(poll()).rejects.toMatchObject({ status: 409 });
    clock.advance({ minutes: 2 });
    await expect(poll()).rejects.toMatchObject({ status: 409 });
    await server.request(deleteGeneration, { params: { id } }, { as: ada });
    expect(ids).not.toContain((await poll()).request_id);
  });

  test('return an error if their API key is revoked while they wait, and leave the picture running', async () => {
    stub.answer = 'hang';
    const program = await makeKey();
    const as = { ...ada, apiKey: program.secret };
    const asked = server.request(paris.generateParisImage, { body }, { as }).catch((error: unknown) => error);
    await vi.waitFor(() => expect(stub.open).toBe(1));
    await revoke(program);
    expect(await asked).toMatchObject({ status: 401 });
    expect(stub.open).toBe(1);
  });

  test('return an error if the picture has failed', async () => {
    stub.answer = 'refuse';
    const answer = server.request(paris.generateParisImage, { body }, { as: ada });
    const error = { message: 'The prompt is too long for this model. Nothing was charged' };
    await expect(answer).rejects.toMatchObject({ status: 400, code: 'invalid_request', body: { error } });
    await expect(server.request(paris.pollParis, { body }, { as: ada })).rejects.toMatchObject({
      body: { error },
    });
  });

  test('return the price of a picture', async () => {
    const asked = { num_images: 4, num_inference_steps: 20, sampling_strategy: 'topk', k: 2 };
    expect(await server.request(paris.estimateParis, { body: asked }, { as: ada })).toEqual({
      ...{ estimated_cost_tokens: 0.25, estimated_cost_bgl: 0.25, estimated_cost_usd: 0.01 },
      ...{ currency: 'USD', is_free: false },
    });
    const other = server.request(paris.estimateParis, { body: { model: 'veo-3.0' } }, { as: ada });
    await expect(other).rejects.toMatchObject({ status: 404 });
  });

  test('accept numbers as text', async () => {
    const texts = { num_inference_steps: '50', seed: '5', k: ' 3 ', cfg_scale: '3.5' };
    const { images } = await server.request(
      paris.generateParisImage,
      { body: { ...body, ...texts } },
      { as: ada },
    );
    expect(images).toMatchObject([{ num_inference_steps: 50, seed: 5, k: 3, cfg_scale: 3.5 }]);
  });

  test('reject a blank prompt and another model', async () => {
    const send = (wrong: object) =>
      server.request(paris.generateParisImage, { body: { ...body, ...wrong } }, { as: ada });
    await expect(send({ prompt: ' ' })).rejects.toMatchObject({
      status: 400,
      body: { error: { param: 'prompt', message: 'Please enter a prompt' } },
    });
    await expect(send({ model: 'flux' })).rejects.toMatchObject({
      status: 400,
      body: { error: { param: 'model' } },
    });
  });
});

describe("OpenAI's images API, by its own client", () => {
  const client = () => new OpenAI({ baseURL: `${server.url}/v1`, apiKey: ada.apiKey, maxRetries: 0 });

  test('generates as a link, as bytes or as both, with the model in the list', async () => {
    const { data: models } = await server.request(listModels, {}, { as: ada });
    expect(models.filter(({ task }) => task === 'image').map(({ id }) => id)).toEqual([
      'kontext-starter',
      'paris-ddm-v1.0',
    ]);
    expect(models.find(({ id }) => id === 'wan-starter')?.task).toBe('video');
    const linked = await client().images.generate({ prompt: 'Bread', model: 'paris-ddm-v1.0', size: 'auto' });
    expect((await fetch(linked.data?.[0]?.url ?? '')).headers.get('content-type')).toBe('image/png');
    const url: unknown = expect.stringContaining('/');
    expect(linked.data).toEqual([{ url, b64_json: PIXEL }]);
    const generate = async (response_format: 'url' | 'b64_json') =>
      (await client().images.generate({ prompt: 'Bread', response_format, n: 1 })).data;
    expect(await generate('url')).toEqual([{ url }]);
    expect(await generate('b64_json')).toEqual([{ b64_json: PIXEL }]);
    expect(stub.requests.at(-1)).toMatchObject({ steps: 20, strategy: 'topk', k: 2 });
  });

  test("accepts OpenAI's other fields if they have their default values", async () => {
    const neutral = {
      ...{ quality: 'auto', background: 'auto', moderation: 'auto', stream: false, partial_images: 0 },
      ...{ output_compression: null, style: null, metadata: { a: 'b' }, safety_identifier: 'x', user: 'x' },
    } as const;
    const { data } = await client().images.generate({ prompt: 'Bread', ...neutral } as never);
    expect(data).toHaveLength(1);
  });

  test.each([
    {},
    { size: 'auto' as const, quality: 'auto' as const },
    { size: '1024x1024' as const, quality: 'standard' as const },
    { size: '256x256' as const, quality: 'medium' as const, output_format: 'png' as const },
    { size: '128x128', style: null, background: 'auto' as const },
  ])('generates for %j, and returns the size of the picture', async (common) => {
    const generated = await client().images.generate({ prompt: 'Bread', ...common });
    expect(generated).toMatchObject({ size: '1x1', output_format: 'png', data: [{ b64_json: PIXEL }] });
  });

  test('accepts seed, steps and guidance, and names the models that support them', async () => {
    const settings = { seed: 7, num_inference_steps: 12, guidance_scale: 3 };
    await client().images.generate({ prompt: 'Bread', ...settings } as never);
    await client().images.edit({
      ...{ prompt: 'Make it blue', image: await toFile(Buffer.from(PIXEL, 'base64'), 'bread.png') },
      ...settings,
    } as never);
    expect(stub.requests).toMatchObject([
      { seed: 7, steps: 12 },
      { seed: 7, steps: 12 },
    ]);
    await expect(
      client().images.generate({ prompt: 'Bread', model: 'kontext-starter' }),
    ).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining(
        "'kontext-starter' that serves this call. Those that do: paris-ddm-v1.0",
      ),
    });
    const edit = { prompt: 'Blue', image: await toFile(Buffer.from(PIXEL, 'base64'), 'bread.png') };
    await expect(client().images.edit({ ...edit, model: 'paris-ddm-v1.0' })).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining('Those that do: kontext-starter'),
    });
  });

  test('names the valid values for a wrong size and quality', async () => {
    const ask = (wrong: object) => client().images.generate({ prompt: 'Bread', ...wrong } as never);
    await expect(ask({ size: '1536x1024' })).rejects.toThrow(
      'size must be auto, or WIDTHxHEIGHT in a shape that paris-ddm-v1.0 makes: 1:1',
    );
    await expect(ask({ quality: 'hd' })).rejects.toThrow('quality must be auto or standard or medium here');
  });

  test.each([
    ['quality', { quality: 'hd' as const }],
    ['quality', { quality: 'high' as const }],
    ['quality', { quality: 'superb' }],
    ['style', { style: 'vivid' as const }],
    ['stream', { stream: true as const }],
    ['seed', { seed: -1 }],
    ['num_inference_steps', { num_inference_steps: 1_000 }],
    ['size', { size: '1792x1024' as const }],
    ['size', { size: '0x0' }],
    ['size', { size: '-64x-64' }],
    ['size', { size: '99999x99999' }],
    ['size', { size: 'square' }],
    ['n', { n: 2 }],
    ['model', { model: 'dall-e-3' }],
  ])('names %s in the error that rejects it', async (param, wrong) => {
    const asked = client().images.generate({ prompt: 'Bread', ...wrong } as never);
    await expect(asked).rejects.toMatchObject({ error: { param } });
    expect(stub.requests).toEqual([]);
  });

  test('cancels a picture whose client has disconnected', async () => {
    stub.answer = 'hang';
    const before = await setting.balance(ada);
    const disconnect = new AbortController();
    const asked = client().images.generate({ prompt: 'Bread' }, { signal: disconnect.signal });
    await vi.waitFor(() => expect(stub.open).toBe(1));
    disconnect.abort();
    await expect(asked).rejects.toThrow();
    await vi.waitFor(() => expect(stub.open).toBe(0));
    expect(await setting.balance(ada)).toEqual(before);
  });

  test('cancels the picture if its API key is revoked while the call waits, and returns the reason', async () => {
    stub.answer = 'hang';
    const before = await setting.balance(ada);
    const program = await makeKey();
    const openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: program.secret, maxRetries: 0 });
    const asked = openai.images.generate({ prompt: 'Bread' }).catch((error: unknown) => error);
    await vi.waitFor(() => expect(stub.open).toBe(1));
    await revoke(program);
    expect(await asked).toMatchObject({ status: 401 });
    await vi.waitFor(() => expect(stub.open).toBe(0));
    expect(await setting.balance(ada)).toEqual(before);
  });

  test('does not cancel a picture with an Idempotency-Key if the API key is revoked', async () => {
    stub.answer = 'hang';
    const states = async () =>
      (
        await server.request(listGenerations, { params: { userId: ada.userId } }, { as: ada })
      ).generations.map(({ state }) => state);
    const program = await makeKey();
    const openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: program.secret, maxRetries: 0 });
    const headers = { 'idempotency-key': 'mine' };
    const asked = openai.images.generate({ prompt: 'Bread' }, { headers }).catch((error: unknown) => error);
    await vi.waitFor(() => expect(stub.open).toBe(1));
    await revoke(program);
    expect(await asked).toMatchObject({ status: 401 });
    expect(await states()).toEqual([expect.stringMatching(/^(queued|starting|running)$/)]);
  });

  test('cancels the picture before it reports a timeout, so that a retry does not pay twice', async () => {
    stub.answer = 'hang';
    const before = await setting.balance(ada);
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms === 10 * 60_000 ? 500 : ms));
    const ask = (key?: string) =>
      client().images.generate({ prompt: 'Bread' }, key ? { headers: { 'idempotency-key': key } } : {});
    const states = async () =>
      (
        await server.request(listGenerations, { params: { userId: ada.userId } }, { as: ada })
      ).generations.map(({ state }) => state);
    const refused: unknown = await ask().catch((error: unknown) => error);
    expect(refused).toMatchObject({ status: 504 });
    expect((refused as InstanceType<typeof OpenAI.APIError>).headers?.get('x-should-retry')).toBe('false');
    expect(await states()).toEqual(['cancelled']);
    expect(await setting.balance(ada)).toEqual(before);
    await expect(ask('mine')).rejects.toMatchObject({ status: 504 });
    expect(await states()).toEqual([expect.stringMatching(/^(queued|starting|running)$/), 'cancelled']);
    vi.restoreAllMocks();
  });

  test('reports a request that the model refuses immediately, as a client error', async () => {
    stub.answer = 'refuse';
    const asked = client().images.generate({ prompt: 'A roll' });
    await expect(asked).rejects.toMatchObject({ status: 400 });
    expect(stub.requests.filter(({ prompt }) => prompt === 'A roll')).toHaveLength(1);
  });

  test('a text call names what the image model generates', async () => {
    const asked = client().chat.completions.create({
      model: 'paris-ddm-v1.0',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    await expect(asked).rejects.toThrow('Paris starter generates pictures, not text');
  });
});
