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

/** URL and init of the last call. */
function sent(): { url: unknown; init: RequestInit; headers: Headers } {
  const [url, init = {}] = fetched.mock.lastCall ?? [];
  return { url, init, headers: new Headers(init.headers) };
}

test('a call sends the API key and returns the response', async () => {
  answer(200, { balance: '5', held: '0', available: '5' });
  await expect(call(getBalance, { params: { userId: 'a/b' } })).resolves.toMatchObject({ balance: '5' });
  expect(sent().url).toBe('/api/v1/users/a%2Fb/balance');
  expect(sent().headers.get('x-api-key')).toBe('bk_1');
  expect(sent().headers.has('idempotency-key')).toBe(false);
});

test('a public call neither sends nor needs a key', async () => {
  setCredentials(null);
  answer(200, { methods: [] });
  await call(getSignInMethods);
  expect(sent().headers.has('x-api-key')).toBe(false);
});

test('sends nothing without a key', async () => {
  setCredentials(null);
  await expect(call(getMachine)).rejects.toMatchObject({ message: 'API key not found' });
  expect(fetched).not.toHaveBeenCalled();
});

test('a spending call sends its idempotency key and is not sent without one', async () => {
  answer(200, {});
  const input = { body: { user_id: 'u1', recipient_id: 'bob', amount: '1' } };
  await call(transferTokens, input, { idempotencyKey: 'k1' });
  expect(sent().headers.get('idempotency-key')).toBe('k1');
  expect(sent().init.body).toBe(JSON.stringify(input.body));
  fetched.mockClear();
  await expect(call(transferTokens, input)).rejects.toThrow('no idempotency key');
  expect(fetched).not.toHaveBeenCalled();
});

test('an empty response is not an error', async () => {
  fetched.mockResolvedValue(new Response(null, { status: 204 }));
  await expect(call(deleteAsset, { params: { id: crypto.randomUUID() } })).resolves.toBeUndefined();
});

test('an error response becomes an error with its message, code and amounts', async () => {
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

test('does not show a proxy’s HTML page to users', async () => {
  fetched.mockResolvedValue(new Response('<html>502</html>', { status: 502 }));
  await expect(call(getMachine)).rejects.toMatchObject({
    message: 'Failed to get machine',
  });
});

test('times out with a message', async () => {
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

test('reports an unreachable server with one message and passes on the caller’s abort', async () => {
  fetched.mockRejectedValue(new TypeError('fetch failed'));
  await expect(call(getMachine)).rejects.toMatchObject({ code: 'network', status: 0 });
  const aborted = AbortSignal.abort();
  await expect(call(getMachine, {}, { signal: aborted })).rejects.toBe(aborted.reason);
});

test('broadcasts an invalid key to all tabs, at most once in two seconds', async () => {
  answer(401, { error: { message: 'no' } });
  await expect(call(getMachine)).rejects.toMatchObject({ status: 401 });
  await expect(call(getMachine)).rejects.toMatchObject({ status: 401 });
  expect(heard).toEqual([{ type: 'invalid-key', userId: 'u1' }]);
  vi.advanceTimersByTime(2_000);
  answer(403, { error: { message: 'no' } });
  await expect(call(getMachine)).rejects.toMatchObject({ status: 403 });
  expect(heard).toHaveLength(2);
});

test('other 4xx errors do not invalidate the key', async () => {
  answer(404, { error: { message: 'no' } });
  await expect(call(getMachine)).rejects.toMatchObject({ status: 404 });
  expect(heard).toEqual([]);
});

test('reports a DNS failure if the browser exposes it', async () => {
  fetched.mockRejectedValue(new TypeError('A server with the specified hostname could not be found.'));
  await expect(call(getMachine)).rejects.toMatchObject({ code: 'lookup', status: 0 });
});

test('an offline read reports that nothing is cached', async () => {
  fetched.mockRejectedValue(new TypeError('fetch failed'));
  vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false);
  await expect(call(getMachine)).rejects.toMatchObject({
    message: 'Network offline and no cached data available',
  });
});

test('deduplicates concurrent identical reads but not writes', async () => {
  answer(200, {});
  await Promise.all([call(getMachine), call(getMachine)]);
  expect(fetched).toHaveBeenCalledTimes(1);
  const params = { id: crypto.randomUUID() };
  await Promise.all([call(deleteAsset, { params }), call(deleteAsset, { params })]);
  expect(fetched).toHaveBeenCalledTimes(3);
});

test('treats a truncated response as no response', async () => {
  fetched.mockImplementation(async () => new Response('{"balance":'));
  await expect(call(getMachine)).rejects.toMatchObject({ code: 'network', status: 0 });
});
