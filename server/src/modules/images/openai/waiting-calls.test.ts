import { EventEmitter } from 'node:events';
import { listGenerations } from '@bakehouse/contract/generations';
import OpenAI from 'openai';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Http } from '../../../platform/http/bind.ts';
import { serverStops } from '../../../platform/http/graceful-close.ts';
import type { TestUser } from '../../../testing/test-server.ts';
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

/** A call for the picture, and how it ends for its client. */
function wait(id: string) {
  const closing = new AbortController();
  const raw = Object.assign(new EventEmitter(), { statusCode: 200, writableEnded: false });
  const caller = { kind: 'user', userId: ada.userId, isOperator: false } as const;
  const ctx = {
    ...server.services,
    caller,
    closing: closing.signal,
    requestId: 'test',
    idempotencyKey: null,
  };
  const answer = awaitCompleted(ctx, { id }, { raw } as unknown as Http['reply']);
  return {
    ended: answer.then(
      () => null,
      (error: unknown) => error,
    ),
    disconnect: () => raw.emit('close'),
    stop: () => closing.abort(serverStops()),
  };
}

test('a picture that two calls wait for is cancelled with the last that disconnects', async () => {
  const id = await startHanging('flux');
  const [first, second] = [wait(id), wait(id)];
  first.disconnect();
  await first.ended;
  expect(await read(id)).toMatchObject({ ended_at: null });
  second.disconnect();
  await second.ended;
  expect(await read(id)).toMatchObject({ state: 'cancelled' });
});

test('a server that stops says so to whom waits for a picture, and cancels none', async () => {
  const id = await startHanging('flux');
  const call = wait(id);
  call.stop();
  expect(await call.ended).toMatchObject({ status: 503, shouldRetry: true });
  call.disconnect();
  expect(await read(id)).toMatchObject({ ended_at: null });
});

test('equal calls get a picture each, also those that are repeated because there were too many', async () => {
  upstream.state.answer = 'hang';
  const statuses: number[] = [];
  const attempt: typeof fetch = async (...call) => {
    const response = await fetch(...call);
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
