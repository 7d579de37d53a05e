import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { onFileEnd } from '../../testing/on-file-end.ts';
import type { Caller, Context } from '../context.ts';
import { Answer, writeAnswer } from './answer.ts';
import { EVENT_HEADERS } from './send-page.ts';

const nobody = { caller: { kind: 'nobody' } } as Context<Caller>;

/** The caller of a revoked key. */
const revoked = {
  caller: {
    kind: 'user',
    userId: 'ada',
    isOperator: false,
    key: { id: 'key', scopes: ['everything'], expiresAt: null, changeCount: 0, look: async () => null },
  },
  rowChanges: { areCurrent: () => true, subscribe: () => () => undefined, count: () => 1 },
  clock: { now: () => new Date() },
} as unknown as Context<Caller>;

let next: { ctx: Context<Caller>; output: unknown };
const app = Fastify();
app.get('/', (_request, reply) => writeAnswer(next.ctx, { status: 201 }, reply, next.output));
await app.listen({ port: 0, host: '127.0.0.1' });
onFileEnd(() => app.close());
const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/`;

function ask(output: unknown, { ctx = nobody, signal = AbortSignal.timeout(60_000) } = {}) {
  next = { ctx, output };
  return fetch(url, { signal });
}

test('writes a value as JSON with the status of its endpoint', async () => {
  const answer = await ask('bread');
  expect(answer.status).toBe(201);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(await answer.json()).toBe('bread');
});

test('writes the status and headers of an answer', async () => {
  const answer = await ask(new Answer({ id: 1 }, { status: 202, headers: { 'x-loaf': 'rye' } }));
  expect([answer.status, answer.headers.get('x-loaf')]).toEqual([202, 'rye']);
  expect(await answer.json()).toEqual({ id: 1 });
});

test('destroys a stream of events when the client disconnects', async () => {
  const events = new PassThrough();
  events.write(': open\n\n');
  const leaving = new AbortController();
  const answer = await ask(new Answer(events, { headers: EVENT_HEADERS }), { signal: leaving.signal });
  expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const closed = once(events, 'close').catch(() => undefined);
  leaving.abort();
  await closed;
  expect(events.destroyed).toBe(true);
});

test('disconnects a download when its API key ends', async () => {
  const bytes = new PassThrough();
  bytes.write('half');
  const download = ask(new Answer(bytes, { headers: { 'content-length': 8 } }), { ctx: revoked });
  await expect(download.then((answer) => answer.text())).rejects.toThrow();
  expect(bytes.destroyed).toBe(true);
});
