import { Agent, createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { afterAll, expect, test, vi } from 'vitest';
import { ModelServerUnreachable, postToModelServer, readText } from './model-server-client.ts';

const { signal } = new AbortController();
let requests = 0;
/**
 * If true, the server closes the connection instead of answering. The number of requests on the connection is
 * passed.
 */
let closes: (requestsOfConnection: number) => boolean = () => false;
/** If set, answers in place of the server and never ends. */
let endless: ((response: ServerResponse) => void) | null = null;
const counts = new WeakMap<object, number>();
const server = createServer((request, response) => {
  requests += 1;
  const count = (counts.get(request.socket) ?? 0) + 1;
  counts.set(request.socket, count);
  if (closes(count)) request.socket.destroy();
  else if (endless) endless(response);
  else response.end('answer');
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
afterAll(() => void server.close());

const post = async ({ port = (server.address() as AddressInfo).port, alone = false } = {}) => {
  const target = { url: `http://127.0.0.1:${port}/`, key: null, alone };
  return readText(await postToModelServer(target, {}, signal));
};

test('immediately replaces a reused connection that was closed', async () => {
  closes = (count) => count > 1;
  expect(await post()).toBe('answer');
  expect(await post()).toBe('answer');
  expect(requests).toBe(3);
});

test('reports a server that closes a new connection as unreachable', async () => {
  closes = () => true;
  await expect(post()).rejects.toThrow(ModelServerUnreachable);
});

test('tells whether a request without an answer was delivered', async () => {
  closes = () => true;
  const asked = requests;
  await expect(post({ alone: true })).rejects.toMatchObject({ wasDelivered: true });
  expect(requests).toBe(asked + 1);
  const nobody = createServer();
  await new Promise<void>((resolve) => nobody.listen(0, '127.0.0.1', resolve));
  const free = (nobody.address() as AddressInfo).port;
  await new Promise((resolve) => nobody.close(resolve));
  await expect(post({ port: free })).rejects.toMatchObject({ wasDelivered: false });
});

test('sends a request with a connection of its own only once', async () => {
  closes = () => false;
  await post();
  closes = (count) => count > 1;
  const asked = requests;
  expect(await post({ alone: true })).toBe('answer');
  expect(requests).toBe(asked + 1);
});

test('truncates an endless text and closes the connection', async () => {
  closes = () => false;
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  endless = (response) => {
    response.on('close', resolve);
    const write = () => {
      while (!response.destroyed && response.write('no '.repeat(1_000)));
    };
    response.on('drain', write);
    write();
  };
  expect(await post()).toHaveLength(64 * 1024);
  await closed;
  endless = null;
});

test('abandons a machine that does not answer after five seconds', async () => {
  const open = vi
    .spyOn(Agent.prototype, 'createConnection')
    .mockImplementation(() => Object.assign(new Socket(), { connecting: true }));
  const setTimer = vi.spyOn(globalThis, 'setTimeout');
  try {
    let met: unknown;
    const answer = post({ alone: true }).catch((error: unknown) => (met = error));
    const findTimer = () => setTimer.mock.calls.find(([, ms]) => ms === 5_000)?.[0];
    const giveUp = await vi.waitUntil(findTimer);
    expect(met).toBeUndefined();
    giveUp();
    expect(await answer).toBeInstanceOf(ModelServerUnreachable);
  } finally {
    setTimer.mockRestore();
    open.mockRestore();
  }
});
