import { transferTokens } from '@bakehouse/contract/credits';
import { beforeEach, expect, test, vi } from 'vitest';
import { ApiError } from './api-error.ts';
import { idempotencyKeys, isRefused } from './idempotency-key.ts';

beforeEach(() => sessionStorage.clear());

/** Simulates a reload: module state is lost, session storage stays. */
async function reloaded() {
  vi.resetModules();
  const { call } = await import('./api-client.ts');
  const { setCredentials } = await import('./credentials.ts');
  setCredentials({ userId: 'u1', apiKey: 'k' });
  const { idempotencyKeys: keys } = await import('./idempotency-key.ts');
  return { call, keys };
}

test('an input keeps its key until it succeeds, whatever else is sent in between', () => {
  let count = 0;
  const keys = idempotencyKeys('transfer', () => `key-${++count}`);
  expect(keys.keyFor({ amount: '5' })).toBe('key-1');
  expect(keys.keyFor({ amount: '5' })).toBe('key-1');
  expect(keys.keyFor({ amount: '6' })).toBe('key-2');
  expect(keys.isRepeat({ amount: '5' })).toBe(true);
  expect(keys.isRepeat({ amount: '6' })).toBe(true);
  keys.renew({ amount: '6' });
  expect(keys.isRepeat({ amount: '6' })).toBe(false);
  expect(keys.keyFor({ amount: '5' })).toBe('key-1');
  expect(keys.keyFor({ amount: '6' })).toBe('key-3');
});

test('after a lost response and a reload, the same input reuses its key until it is answered', async () => {
  const body = { recipient_username: 'sam', amount: '5' };
  const sent: string[] = [];
  const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(async (_url, init) => {
    const key = new Headers(init?.headers).get('idempotency-key');
    // The client also checks whether the server is reachable.
    if (key === null) return Response.json({});
    sent.push(key);
    if (sent.length === 1) throw new TypeError('Failed to fetch');
    return Response.json({});
  });
  const send = async ({ call, keys }: Awaited<ReturnType<typeof reloaded>>) => {
    const idempotencyKey = keys('transfer').keyFor(body);
    await call(transferTokens, { body } as never, { idempotencyKey });
  };
  await expect(send(await reloaded())).rejects.toThrow('cannot be reached');
  expect((await reloaded()).keys('transfer').isRepeat(body)).toBe(true);
  await send(await reloaded());
  expect(sent[1]).toBe(sent[0]);
  const after = await reloaded();
  expect(after.keys('transfer').isRepeat(body)).toBe(false);
  await send(after);
  expect(sent[2]).not.toBe(sent[0]);
  // Other purposes have separate keys.
  expect(after.keys('other').isRepeat(body)).toBe(false);
  fetched.mockRestore();
});

test('a rejected input, and one older than 15 minutes after a reload, gets a new key', async () => {
  const body = { amount: '5' };
  const fetched = vi
    .spyOn(globalThis, 'fetch')
    .mockImplementation(async (_url, init) =>
      new Headers(init?.headers).has('idempotency-key')
        ? Response.json({ error: { code: 'insufficient_funds', message: 'No' } }, { status: 402 })
        : Response.json({}),
    );
  const { call, keys } = await reloaded();
  const transfer = keys('transfer');
  const refused = transfer.keyFor(body);
  await expect(call(transferTokens, { body } as never, { idempotencyKey: refused })).rejects.toThrow('No');
  expect(transfer.isRepeat(body)).toBe(false);
  const next = transfer.keyFor(body);
  expect(next).not.toBe(refused);
  fetched.mockRestore();

  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 14 * 60_000 });
  expect((await reloaded()).keys('transfer').keyFor(body)).toBe(next);
  vi.setSystemTime(Date.now() + 15 * 60_000);
  expect((await reloaded()).keys('transfer').isRepeat(body)).toBe(false);
  vi.useRealTimers();
});

test.each([
  [402, true],
  [409, true],
  // The server rejected these before checking whether the key was used.
  [0, false],
  [401, false],
  [403, false],
  [429, false],
  // The outcome is unknown.
  [408, false],
  [502, false],
])('status %d means that nothing was executed: %s', (status, refused) =>
  expect(isRefused(new ApiError('No', { status, code: 'no_key' }))).toBe(refused),
);
