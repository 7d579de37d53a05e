import { Agent, createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { afterAll, expect, test, vi } from 'vitest';
import { ModelServerUnreachable, postToModelServer, readText } from './model-server-client.ts';

const { signal } = new AbortController();
let requests = 0;
/** Closes a connection instead of answering what comes over it. */
let closes: (requestsOfConnection: number) => boolean = () => false;
/** Answers instead, and never comes to an end. */
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

test('a kept connection that was closed meanwhile is replaced at once', async () => {
  closes = (count) => count > 1;
  expect(await post()).toBe('answer');
  expect(await post()).toBe('answer');
  expect(requests).toBe(3);
});

test('a server that closes a new connection is not reached', async () => {
  closes = () => true;
  await expect(post()).rejects.toThrow(ModelServerUnreachable);
});

test('it is known whether what was not answered was delivered', async () => {
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

test('what goes over a connection of its own is sent once', async () => {
  closes = () => false;
  await post();
  closes = (count) => count > 1;
  const asked = requests;
  expect(await post({ alone: true })).toBe('answer');
  expect(requests).toBe(asked + 1);
});

test('of a text without an end the beginning is read, and the connection ends', async () => {
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

test('a machine that does not answer at all is given up after five seconds', async () => {
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
