import { getMe, getSession } from '@bakehouse/contract/accounts';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { getCredentials, setCredentials } from '../../lib/api/credentials.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { refreshUser, sessionQuery } from './session.ts';

const asked = vi.fn<() => void>();

/** A server that starts but never completes its answer about the session. */
const slow: typeof fetch = async (url, init) => {
  if (url !== getSession.path) return new Response(null);
  asked();
  const body = new ReadableStream({
    start: (stream) => init?.signal?.addEventListener('abort', () => stream.error(init.signal?.reason)),
  });
  return new Response(body);
};

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('fetch', slow);
});

afterEach(() => {
  setCredentials(null);
  queryClient.clear();
  asked.mockReset();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test('retries loading the session after a timeout', async () => {
  const user = queryClient.fetchQuery(sessionQuery);
  await vi.advanceTimersByTimeAsync(10_500);
  expect(asked).toHaveBeenCalledTimes(1);
  vi.stubGlobal('fetch', async () => Response.json({ user: null, api_key: null }));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await user).toBeNull();
});

test('loading the session fails with a message after three retries', async () => {
  const error = queryClient.fetchQuery(sessionQuery).catch((thrown: unknown) => thrown);
  await vi.advanceTimersByTimeAsync(10_000 + 1_000 + 10_000 + 2_000 + 10_000 + 4_000 + 10_000);
  expect(asked).toHaveBeenCalledTimes(4);
  expect(await error).toMatchObject({ message: 'Request timeout after 10000ms', code: 'timeout' });
});

test('loads a replaced key with the session, without sending the old key', async () => {
  setCredentials({ userId: 'u1', apiKey: 'the old one' });
  vi.stubGlobal('fetch', async (_url: string, { headers }: RequestInit) => {
    const key = new Headers(headers).get('x-api-key');
    if (key === 'the old one') return Response.json({ error: { message: 'no' } }, { status: 401 });
    return Response.json({ user: { id: 'u1' }, api_key: 'the new one' });
  });
  expect(await queryClient.fetchQuery(sessionQuery)).toEqual({ id: 'u1' });
  expect(getCredentials()?.apiKey).toBe('the new one');
});

test('a pending read does not sign the user in again after sign-out', async () => {
  setCredentials({ userId: 'u1', apiKey: 'key' });
  queryClient.setQueryData(sessionQuery.queryKey, { id: 'u1' } as never);
  let answer: (response: Response) => void = () => undefined;
  vi.stubGlobal('fetch', (url: string) =>
    url.endsWith(getMe.path) ? new Promise((resolve) => (answer = resolve)) : slow(url),
  );
  const refreshed = refreshUser();
  setCredentials(null);
  queryClient.setQueryData(sessionQuery.queryKey, null);
  answer(Response.json({ id: 'u1' }));
  await refreshed;
  expect(queryClient.getQueryData(sessionQuery.queryKey)).toBeNull();
});
