import { getSignInMethods } from '@bakehouse/contract/accounts';
import { deleteAsset } from '@bakehouse/contract/assets';
import { getBalance, transferTokens } from '@bakehouse/contract/credits';
import { getMachine } from '@bakehouse/contract/machines';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { onSessionMessage, type SessionMessage } from '../session/session-channel.ts';
import { call } from './api-client.ts';
import { setCredentials } from './credentials.ts';

const fetched = vi.fn<typeof fetch>();
const heard: SessionMessage[] = [];
let stopListening = () => {};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  vi.stubGlobal('fetch', fetched);
  setCredentials({ userId: 'u1', apiKey: 'bk_1' });
  stopListening = onSessionMessage((message) => heard.push(message));
});

afterEach(() => {
  stopListening();
  heard.length = 0;
  fetched.mockReset();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function answer(status: number, body: unknown): void {
  fetched.mockImplementation(async () => Response.json(body, { status }));
}

/** The last call's address and init. */
function sent(): { url: unknown; init: RequestInit; headers: Headers } {
  const [url, init = {}] = fetched.mock.lastCall ?? [];
  return { url, init, headers: new Headers(init.headers) };
}

test('a call carries the key and gives the answer', async () => {
  answer(200, { balance: '5', held: '0', available: '5' });
  await expect(call(getBalance, { params: { userId: 'a/b' } })).resolves.toMatchObject({ balance: '5' });
  expect(sent().url).toBe('/api/v1/users/a%2Fb/balance');
  expect(sent().headers.get('x-api-key')).toBe('bk_1');
  expect(sent().headers.has('idempotency-key')).toBe(false);
});

test('a public call does not carry the key, and needs none', async () => {
  setCredentials(null);
  answer(200, { methods: [] });
  await call(getSignInMethods);
  expect(sent().headers.has('x-api-key')).toBe(false);
});

test('without a key nothing is sent', async () => {
  setCredentials(null);
  await expect(call(getMachine)).rejects.toMatchObject({ message: 'API key not found' });
  expect(fetched).not.toHaveBeenCalled();
});

test('what spends carries the idempotency key that it was given, and is not sent without', async () => {
  answer(200, {});
  const input = { body: { user_id: 'u1', recipient_id: 'bob', amount: '1' } };
  await call(transferTokens, input, { idempotencyKey: 'k1' });
  expect(sent().headers.get('idempotency-key')).toBe('k1');
  expect(sent().init.body).toBe(JSON.stringify(input.body));
  fetched.mockClear();
  await expect(call(transferTokens, input)).rejects.toThrow('no idempotency key');
  expect(fetched).not.toHaveBeenCalled();
});

test('an empty answer is no error', async () => {
  fetched.mockResolvedValue(new Response(null, { status: 204 }));
  await expect(call(deleteAsset, { params: { id: crypto.randomUUID() } })).resolves.toBeUndefined();
});

test('an error answer becomes an error with its sentence, code and amounts', async () => {
  answer(402, {
    error: {
      code: 'insufficient_funds',
      message: 'Too little',
      required_amount: '5',
      available_amount: '1',
      param: null,
    },
  });
  await expect(call(getMachine)).rejects.toMatchObject({
    status: 402,
    code: 'insufficient_funds',
    message: 'Too little',
    requiredAmount: '5',
    availableAmount: '1',
  });
});

test('a proxy’s HTML page is not shown to people', async () => {
  fetched.mockResolvedValue(new Response('<html>502</html>', { status: 502 }));
  await expect(call(getMachine)).rejects.toMatchObject({
    message: 'Failed to get machine',
  });
});

test('gives up after the timeout and says so', async () => {
  fetched.mockImplementation(
    (_url, init) =>
      new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
      }),
  );
  const error = call(getMachine).catch((thrown: unknown) => thrown);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await error).toMatchObject({ message: 'Request timeout after 10000ms', status: 0 });
});

test('an unreachable server is one sentence; a caller’s own abort is passed on', async () => {
  fetched.mockRejectedValue(new TypeError('fetch failed'));
  await expect(call(getMachine)).rejects.toMatchObject({ code: 'network', status: 0 });
  const aborted = AbortSignal.abort();
  await expect(call(getMachine, {}, { signal: aborted })).rejects.toBe(aborted.reason);
});

test('a refused key is broadcast to all tabs, once in two seconds', async () => {
  answer(401, { error: { message: 'no' } });
  await expect(call(getMachine)).rejects.toMatchObject({ status: 401 });
  await expect(call(getMachine)).rejects.toMatchObject({ status: 401 });
  expect(heard).toEqual([{ type: 'invalid-key', userId: 'u1' }]);
  vi.advanceTimersByTime(2_000);
  answer(403, { error: { message: 'no' } });
  await expect(call(getMachine)).rejects.toMatchObject({ status: 403 });
  expect(heard).toHaveLength(2);
});

test('other refusals say nothing about the key', async () => {
  answer(404, { error: { message: 'no' } });
  await expect(call(getMachine)).rejects.toMatchObject({ status: 404 });
  expect(heard).toEqual([]);
});

test('a name that cannot be looked up is distinguished where the browser says so', async () => {
  fetched.mockRejectedValue(new TypeError('A server with the specified hostname could not be found.'));
  await expect(call(getMachine)).rejects.toMatchObject({ code: 'lookup', status: 0 });
});

test('offline, a read says that there is nothing in the cache either', async () => {
  fetched.mockRejectedValue(new TypeError('fetch failed'));
  vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false);
  await expect(call(getMachine)).rejects.toMatchObject({
    message: 'Network offline and no cached data available',
  });
});

test('the same read at the same time is one request; what is sent twice is sent twice', async () => {
  answer(200, {});
  await Promise.all([call(getMachine), call(getMachine)]);
  expect(fetched).toHaveBeenCalledTimes(1);
  const params = { id: crypto.randomUUID() };
  await Promise.all([call(deleteAsset, { params }), call(deleteAsset, { params })]);
  expect(fetched).toHaveBeenCalledTimes(3);
});

test('an answer that breaks off is one that was not given', async () => {
  fetched.mockImplementation(async () => new Response('{"balance":'));
  await expect(call(getMachine)).rejects.toMatchObject({ code: 'network', status: 0 });
});
