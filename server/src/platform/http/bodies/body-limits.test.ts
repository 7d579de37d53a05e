import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import Fastify from 'fastify';
import { beforeEach, expect, test } from 'vitest';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { sendError } from '../send-error.ts';
import { limitBufferedBodies } from './body-limits.ts';

/** Ends the requests whose handlers wait. */
let release: () => void;
let released: Promise<void>;
beforeEach(() => {
  released = new Promise((done) => (release = done));
});
let inWork = 0;
let asked = 0;

const app = Fastify();
app.setErrorHandler(sendError);
const limits = { atOnce: 3, perUser: 2, waitMs: 1_000, slowAfterMs: 200, checkEveryMs: 50 };
const enter = limitBufferedBodies(app, limits);
app.addHook('onRequest', async (request) => {
  request.caller = { kind: 'user', userId: String(request.headers.user), isOperator: false };
});
app.route({
  method: 'POST',
  url: '/',
  preParsing: (request, reply) => {
    asked += 1;
    return enter(request, reply);
  },
  handler: async (request) => {
    inWork += 1;
    if (request.headers.leaves) request.releaseBody();
    await released;
    inWork -= 1;
    return {};
  },
});
await app.listen({ port: 0 });
onFileEnd(() => app.close());
const { port } = app.server.address() as AddressInfo;

const send = (user: string, headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${port}`, {
    method: 'POST',
    body: '{}',
    headers: { user, 'content-type': 'application/json', ...headers },
  });
const statuses = async (answers: Promise<Response>[]) =>
  (await Promise.all(answers)).map(({ status }) => status);
async function untilInWork(count: number): Promise<void> {
  await expect.poll(() => inWork).toBe(count);
}

test('limits the bodies in memory; no user gets the last slot as a second one', async () => {
  const ada = [send('ada'), send('ada')];
  await untilInWork(2);
  const third = await send('ada');
  expect([third.status, third.headers.get('retry-after'), await third.json()]).toEqual([
    503,
    '5',
    {
      error: expect.objectContaining({
        code: 'unavailable',
        message: 'Too many files are being sent at the moment. Try again shortly',
      }),
    },
  ]);
  const bob = send('bob');
  await untilInWork(3);
  expect((await send('eve')).status).toBe(503);
  const before = asked;
  const waiting = send('eve');
  await expect.poll(() => asked).toBe(before + 1);
  release();
  expect(await statuses([...ada, bob, waiting])).toEqual([200, 200, 200, 200]);
});

test('if all slots are used, cuts a slow sender when a user without a slot waits', async () => {
  const head = 'content-type: application/json\r\ncontent-length: 9';
  const before = asked;
  const slow = ['ada', 'ada', 'bob'].map((user) => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.write(`POST / HTTP/1.1\r\nhost: a\r\nuser: ${user}\r\n${head}\r\n\r\n{`);
    return socket;
  });
  await expect.poll(() => asked).toBe(before + 3);
  // A user who already has a slot waits, and does not cause others to be cut.
  expect((await send('bob')).status).toBe(503);
  expect(slow.filter(({ closed }) => closed)).toEqual([]);
  const eve = send('eve');
  await untilInWork(1);
  await expect.poll(() => slow.filter(({ closed }) => closed)).toHaveLength(1);
  release();
  expect((await eve).status).toBe(200);
  for (const socket of slow) socket.destroy();
});

test('slots are released by handlers that release the body, and by clients that disconnect', async () => {
  const answered = [1, 2, 3].map(() => send('ada', { leaves: 'yes' }));
  await untilInWork(3);
  // These clients disconnect before their bodies are complete.
  const head = 'host: a\r\nuser: bob\r\ncontent-type: application/json\r\ncontent-length: 9';
  for (let number = 0; number < 2; number += 1) {
    const gone = connect(port, '127.0.0.1');
    gone.on('error', () => undefined).write(`POST / HTTP/1.1\r\n${head}\r\n\r\n{`);
    await once(gone, 'connect');
    setTimeout(() => gone.destroy(), 100);
  }
  const bob = [send('bob'), send('bob')];
  await untilInWork(5);
  release();
  expect(await statuses([...answered, ...bob])).toEqual([200, 200, 200, 200, 200]);
});
