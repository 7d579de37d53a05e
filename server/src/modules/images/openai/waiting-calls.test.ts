import { EventEmitter } from 'node:events';
import { listGenerations } from '@bakehouse/contract/generations';
import OpenAI from 'openai';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { serverStops } from '../../../platform/http/graceful-close.ts';
import type { TestUser } from '../../../testing/test-server.ts';
import { cancelGeneration } from '../cancel-generation.ts';
import { findGeneration, markLeft, takeLeft } from '../queries.ts';
import type { GenerationLoop } from '../running/create-generation-loop.ts';
import { awaitCompleted } from '../start/await-completed.ts';
import { serviceGenerations } from '../testing/service-generations.ts';

/* Calls that stay open until their picture is done. */

const setting = await serviceGenerations();
const { server, upstream, startGenerationLoop, startHanging, read } = setting;

let ada: TestUser;
let loop: GenerationLoop;
afterEach(() => loop.stop());
beforeEach(async () => {
  loop = startGenerationLoop();
  ada = await setting.begin();
});

const contextOf = (closing: AbortSignal): Context => ({
  ...server.services,
  caller: { kind: 'user', userId: ada.userId, isOperator: false },
  closing,
  requestId: 'test',
  idempotencyKey: null,
});

/** A call for the picture, and how it ends for its client. */
function wait(id: string) {
  const closing = new AbortController();
  const raw = Object.assign(new EventEmitter(), { statusCode: 200, writableEnded: false });
  const answer = awaitCompleted(contextOf(closing.signal), { id }, { raw } as unknown as Http['reply']);
  return {
    ended: answer.then(
      () => null,
      (error: unknown) => error,
    ),
    disconnect: () => raw.emit('close'),
    stop: () => closing.abort(serverStops()),
  };
}

test('a picture is cancelled with the call that disconnects', async () => {
  const id = await startHanging('flux');
  const call = wait(id);
  call.disconnect();
  await call.ended;
  expect(await read(id)).toMatchObject({ state: 'cancelled' });
});

test('a picture that its call has left is of one call that repeats it, which no one cancels from before', async () => {
  const { db, clock } = server.services;
  const id = await startHanging('flux');
  const { userId } = ada;
  const asked = await findGeneration(db, { id, userId });
  if (!asked) throw new Error('it is not there');
  const same = { userId, requestSha256: asked.request_sha256, since: clock.now() };
  const take = async (keyId = asked.key_id) =>
    (await db.transaction().execute((tx) => takeLeft(tx, { ...same, keyId })))?.id;
  expect(await take()).toBeUndefined();
  await markLeft(db, { id, userId }, clock.now());
  expect(await take(null)).toBeUndefined();
  expect(await take()).toBe(id);
  expect(await take()).toBeUndefined();
  const ctx = contextOf(new AbortController().signal);
  expect(await cancelGeneration(ctx, { id, onlyLeft: true })).toMatchObject({ ended_at: null });
});

test('a server that stops says so to whom waits for a picture, and cancels none', async () => {
  const id = await startHanging('flux');
  const call = wait(id);
  call.stop();
  expect(await call.ended).toMatchObject({ status: 503, shouldRetry: true });
  call.disconnect();
  expect(await read(id)).toMatchObject({ ended_at: null });
});

test('equal calls get a picture each, also those that are repeated at another process because there were too many', async () => {
  upstream.state.answer = 'hang';
  const other = await setting.beside();
  const statuses: number[] = [];
  const attempt: typeof fetch = async (url, init) => {
    const isFirst = new Headers(init?.headers).get('x-stainless-retry-count') === '0';
    const response = await fetch(isFirst ? url : new Request(url).url.replace(server.url, other.url), init);
    statuses.push(response.status);
    return response;
  };
  const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: ada.apiKey, fetch: attempt });
  const asked = Array.from({ length: 9 }, () => client.images.generate({ model: 'flux', prompt: 'A roll' }));
  await vi.waitFor(() => expect(statuses).toEqual([429]), { timeout: 10_000 });
  upstream.state.answer = 'ok';
  const answers = await Promise.all(asked);
  const links = answers.map(({ data }) => data?.[0]?.url);
  expect(new Set(links).size).toBe(9);
  const params = { userId: ada.userId };
  const { generations } = await server.request(listGenerations, { params, query: {} }, { as: ada });
  expect(generations).toHaveLength(9);
}, 40_000);
