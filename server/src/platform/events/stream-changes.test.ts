import { type AddressInfo, connect } from 'node:net';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { onFileEnd } from '../../testing/on-file-end.ts';
import type { Context } from '../context.ts';
import { closeGracefully } from '../http/graceful-close.ts';
import { sendError } from '../http/send-error.ts';
import { openEventStream } from '../http/send-page.ts';
import { streamChanges } from './stream-changes.ts';

const subscribers = new Set<object>();
const ctx = {
  caller: { kind: 'user', userId: 'ada', isOperator: false },
  clock: { now: () => new Date() },
  events: {
    subscribe: (_userId: string, listener: object) => {
      subscribers.add(listener);
      return () => subscribers.delete(listener);
    },
  },
  webProcesses: () => 1,
} as unknown as Context;

/** Resolves when authentication completes. */
const known = Promise.withResolvers<void>();
const seen = { come: 0, gone: 0, handled: 0 };

const app = Fastify();
app.setErrorHandler(sendError);
closeGracefully(app);
app.addHook('onRequest', async (_request, reply) => {
  seen.come += 1;
  reply.raw.once('close', () => (seen.gone += 1));
  await known.promise;
});
app.get('/', async ({ headers }, reply) => {
  seen.handled += 1;
  await streamChanges(ctx, headers['last-event-id']?.toString()).open(openEventStream(reply));
});
await app.listen({ port: 0, host: '127.0.0.1' });
onFileEnd(() => app.close());
const { port } = app.server.address() as AddressInfo;

test('a client that disconnects during authentication leaves nothing behind', async () => {
  const clients = Array.from({ length: 21 }, () => connect(port, '127.0.0.1'));
  for (const client of clients) client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  await expect.poll(() => seen.come).toBe(21);
  for (const client of clients) client.destroy();
  await expect.poll(() => seen.gone).toBe(21);
  known.resolve();
  await expect.poll(() => seen.handled).toBe(21);
  expect(subscribers.size).toBe(0);
  expect(app.openStreams.size).toBe(0);
  const leaving = new AbortController();
  const headers = { 'last-event-id': 'of another server' };
  const answer = await fetch(`http://127.0.0.1:${port}/`, { headers, signal: leaving.signal });
  expect(answer.status).toBe(200);
  expect(subscribers.size).toBe(1);
  leaving.abort();
  await expect.poll(() => subscribers.size).toBe(0);
});
