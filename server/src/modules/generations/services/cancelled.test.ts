import {
  cancelGeneration,
  deleteGeneration,
  listGenerations,
  startGeneration,
} from '@bakehouse/contract/generations';
import { deleteAccount } from '@bakehouse/contract/privacy';
import OpenAI from 'openai';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { LeaseLoop } from '../../../platform/leases/lease-loop.ts';
import { password } from '../../../testing/auth-client.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { purgeUser } from '../../privacy/purge-user.ts';
import { leaseNext } from '../queue/queue.ts';
import { serviceGenerations } from '../testing/service-generations.ts';

/* A service charges the operator for a job that it has started, so a cancel is free only before the start. */

const setting = await serviceGenerations();
const { server, clock, upstream, connect, startGenerationLoop, start, startHanging, read } = setting;
const { held, charges, untilEnded } = setting;

let ada: TestUser;
let loop: LeaseLoop;
afterEach(() => loop.stop());
beforeEach(async () => {
  loop = startGenerationLoop();
  ada = await setting.begin();
});

const cancel = (id: string) => server.request(cancelGeneration, { params: { id } }, { as: ada });
const remove = (id: string) => server.request(deleteGeneration, { params: { id } }, { as: ada });
const untilSubmitted = () => vi.waitFor(() => expect(upstream.state.submissions).toHaveLength(1));

describe.each([
  ['fal', 'flux'],
  ['replicate', 'ideogram'],
] as const)('a queued job at %s', (name, generator) => {
  beforeEach(() => connect(name));

  test('is cancelled at the service with its generation at no cost', async () => {
    const id = await startHanging(generator);
    expect(await cancel(id)).toMatchObject({ state: 'cancelled', cost: '0' });
    expect([await charges(), await held(), upstream.state.cancelled]).toEqual([[], '0', ['job_1']]);
  });

  test('continues if the service starts the job just before the cancel and refuses it', async () => {
    const id = await startHanging(generator);
    upstream.state.answer = 'not cancelled';
    await expect(cancel(id)).rejects.toMatchObject({ status: 409 });
    upstream.state.answer = 'ok';
    expect(await untilEnded(id)).toMatchObject({ state: 'completed' });
    expect(await charges()).toHaveLength(1);
  });

  test('is not cancelled while the service is unreachable, because it may have started', async () => {
    const id = await startHanging(generator);
    upstream.state.answer = 'gone silent';
    await expect(cancel(id)).rejects.toMatchObject({ status: 503 });
    upstream.state.answer = 'ok';
    expect(await untilEnded(id)).toMatchObject({ state: 'completed' });
    expect(await charges()).toHaveLength(1);
  });
});

describe.each([
  ['fal', 'flux', 'fal'],
  ['replicate', 'ideogram', 'Replicate'],
  ['blackForestLabs', 'flux', 'Black Forest Labs'],
  ['byteplus', 'seedream', 'BytePlus'],
] as const)('a job that %s has started', (name, generator, title) => {
  beforeEach(() => connect(name));

  test('continues and is charged: cancel and delete return 409 and change nothing', async () => {
    upstream.state.answer = 'generating';
    const { id, cost } = await start(generator);
    await untilSubmitted();
    const begun = {
      status: 409,
      body: {
        error: {
          message: `${title} has started on this picture and cannot cancel it. It will be charged when it is done`,
        },
      },
    };
    await expect(cancel(id)).rejects.toMatchObject(begun);
    await expect(remove(id)).rejects.toMatchObject(begun);
    upstream.state.answer = 'ok';
    expect(await untilEnded(id)).toMatchObject({ state: 'completed', cost });
    expect([await charges(), await held(), upstream.state.cancelled]).toEqual([[cost], '0', []]);
    await remove(id);
  });

  test('continues after its worker has died', async () => {
    upstream.state.answer = 'generating';
    const { id, cost } = await start(generator);
    await untilSubmitted();
    if (name !== 'byteplus') await vi.waitFor(() => expect(upstream.state.looks).toBeGreaterThan(0));
    await expect(cancel(id)).rejects.toMatchObject({ status: 409 });
    await loop.stop();
    await leaseNext(server.services, { own: 0, upstream: 1 });
    clock.advance({ seconds: 16 });
    // BytePlus had not answered, so there is no handle and the job's result is lost.
    const isLost = name === 'byteplus';
    if (!isLost) await expect(remove(id)).rejects.toMatchObject({ status: 409 });
    upstream.state.answer = 'ok';
    loop = startGenerationLoop();
    expect(await untilEnded(id)).toMatchObject({ state: 'completed', cost });
    expect(upstream.state.submissions).toHaveLength(isLost ? 2 : 1);
  });
});

test('does not submit a job again if the process stopped before the service answered', async () => {
  connect('fal');
  const { promise: silence, resolve: fallSilent } = Promise.withResolvers<void>();
  Object.assign(upstream.state, { answer: 'begun in silence', silence });
  const { id } = await start('flux');
  await untilSubmitted();
  const stopping = loop.stop();
  fallSilent();
  await stopping;
  upstream.state.answer = 'ok';
  loop = startGenerationLoop();
  expect(await untilEnded(id)).toMatchObject({ state: 'failed', cost: '0' });
  expect(upstream.state.submissions).toHaveLength(1);
});

test('cancels a generation in the local queue at no cost, whatever its service', async () => {
  connect('blackForestLabs');
  await loop.stop();
  const { id } = await start('flux');
  expect(await cancel(id)).toMatchObject({ state: 'cancelled', cost: '0' });
  expect([await charges(), await held(), upstream.state.submissions]).toEqual([[], '0', []]);
});

test('can be cancelled if the service rejected the submission', async () => {
  upstream.state.answer = 'busy';
  const { id } = await start('flux');
  await vi.waitFor(async () => expect((await read(id)).reason).toMatch(/is busy/));
  expect(await cancel(id)).toMatchObject({ state: 'cancelled', cost: '0' });
});

test("stores and charges a started picture even if OpenAI's client times out", async () => {
  connect('blackForestLabs');
  upstream.state.answer = 'generating';
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: ada.apiKey, maxRetries: 0 });
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  const late = vi
    .spyOn(AbortSignal, 'timeout')
    .mockImplementation((ms) => timeout(ms === 10 * 60_000 ? 2_000 : ms));
  const error: unknown = await client.images
    .generate({ model: 'flux', prompt: 'Bread' })
    .catch((one: unknown) => one);
  late.mockRestore();
  expect(error).toMatchObject({ status: 504, message: expect.stringContaining('is not done yet') });
  expect((error as InstanceType<typeof OpenAI.APIError>).headers?.get('x-should-retry')).toBe('false');
  upstream.state.answer = 'ok';
  await vi.waitFor(async () => expect(await charges()).toHaveLength(1));
});

test("OpenAI's client that times out and retries gets the same picture and pays once", async () => {
  connect('blackForestLabs');
  upstream.state.answer = 'generating';
  const { length: before } = await charges();
  const other = await setting.startSecond();
  // The retry reaches another process than the first call.
  const attempts = vi.fn<typeof fetch>((url, init) => {
    const isFirst = new Headers(init?.headers).get('x-stainless-retry-count') === '0';
    return fetch(isFirst ? url : new Request(url).url.replace(server.url, other.url), init);
  });
  const options = { maxRetries: 1, timeout: 2_000, fetch: attempts };
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: ada.apiKey, ...options });
  const asked = client.images.generate({ model: 'flux', prompt: 'A repeated roll' });
  const list = async () => {
    const params = { userId: ada.userId };
    const { generations } = await server.request(listGenerations, { params, query: {} }, { as: ada });
    return generations.filter(({ prompt }) => prompt === 'A repeated roll');
  };
  await vi.waitFor(() => expect(attempts).toHaveBeenCalledTimes(2));
  upstream.state.answer = 'ok';
  expect((await asked).data).toHaveLength(1);
  expect(await list()).toHaveLength(1);
  expect(await charges()).toHaveLength(before + 1);
});

test('an account purge leaves started jobs running until they are done', async () => {
  connect('blackForestLabs');
  const eve = await server.signUp('Eve');
  const asked = { generator: 'flux' as const, prompt: 'Bread', parameters: {} };
  upstream.state.answer = 'generating';
  const { id } = await server.request(startGeneration, { body: asked }, { as: eve });
  await vi.waitFor(() => expect(upstream.state.looks).toBeGreaterThan(0));
  await server.request(deleteAccount, { body: { password } }, { headers: { cookie: eve.cookie } });
  expect(await purgeUser(server.services, eve.userId)).toBe(false);
  upstream.state.answer = 'ok';
  const row = () =>
    server.services.db.selectFrom('generations').select('state').where('id', '=', id).executeTakeFirst();
  await vi.waitFor(async () => expect(await row()).toEqual({ state: 'completed' }));
  expect(await purgeUser(server.services, eve.userId)).toBe(true);
  expect(await row()).toBeUndefined();
});

describe('fal', () => {
  test.each([
    ['between two attempts', 'cancelled', cancelGeneration],
    ['between two attempts', 'deleted', deleteGeneration],
    ['after the process that generated it has died', 'cancelled', cancelGeneration],
    ['after the process that generated it has died', 'deleted', deleteGeneration],
  ] as const)('%s, the job of a generation that is %s is cancelled', async (when, _what, end) => {
    const id = await startHanging('flux');
    await loop.stop();
    expect(await read(id)).toMatchObject({ state: 'queued' });
    if (when !== 'between two attempts') {
      await leaseNext(server.services, { own: 0, upstream: 1 });
      clock.advance({ seconds: 16 });
      expect(await read(id)).toMatchObject({ state: 'starting' });
    }
    await server.request(end, { params: { id } }, { as: ada });
    await vi.waitFor(() => expect(upstream.state.cancelled).toEqual(['job_1']));
    expect([await charges(), await held()]).toEqual([[], '0']);
  });

  test('cancels the job of a generation that failed permanently', async () => {
    const id = await startHanging('flux');
    upstream.state.answer = 'no key';
    expect(await untilEnded(id)).toMatchObject({ state: 'failed', refused: false });
    await vi.waitFor(() => expect(upstream.state.cancelled).toEqual(['job_1']));
  });

  test('cancels the job of a generation that was interrupted too many times', async () => {
    const id = await startHanging('flux');
    await loop.stop();
    await server.services.db.updateTable('generations').set({ attempt: 3 }).where('id', '=', id).execute();
    loop = startGenerationLoop();
    expect((await untilEnded(id)).reason).toBe('It was interrupted too many times');
    await vi.waitFor(() => expect(upstream.state.cancelled).toEqual(['job_1']));
  });
});
