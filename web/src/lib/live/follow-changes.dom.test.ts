import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { setCredentials } from '../api/credentials.ts';
import { queryClient } from '../api/query-client.ts';
import { followChanges } from './follow-changes.ts';

const USER = '11111111-1111-4111-8111-111111111111';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Answers every request with an open stream; returns the stream controllers. */
function stubStreams() {
  const streams: ReadableStreamDefaultController<Uint8Array>[] = [];
  const lastIds: (string | null)[] = [];
  let open = 0;
  vi.stubGlobal('fetch', (_url: string, { method, signal, headers }: RequestInit) => {
    // The reachability check.
    if (method === 'HEAD') return Promise.resolve(new Response(null));
    lastIds.push(new Headers(headers).get('last-event-id'));
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        streams.push(controller);
        open += 1;
        signal?.addEventListener('abort', () => {
          open -= 1;
          controller.error(signal.reason);
        });
      },
    });
    return Promise.resolve(new Response(body));
  });
  return { streams, lastIds, open: () => open };
}

it('resumes after the last event or id, and refetches everything if the server no longer knows it', async () => {
  setCredentials({ userId: USER, apiKey: 'bh_test' });
  const { streams, lastIds } = stubStreams();
  const refreshed = vi.spyOn(queryClient, 'invalidateQueries');
  const ending = new AbortController();
  const following = followChanges(USER, Date.now(), ending.signal);
  await vi.advanceTimersByTimeAsync(0);
  const send = (text: string) => streams.at(-1)?.enqueue(new TextEncoder().encode(text));
  send('id: 41\nevent: change\ndata: {"topic":"run","id":"a"}\n\nid: 42\n\n');
  await vi.advanceTimersByTimeAsync(1_000);
  refreshed.mockClear();
  streams.at(-1)?.close();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(lastIds).toEqual([null, '42']);
  expect(refreshed).not.toHaveBeenCalled();

  send('id: 99\nevent: reset\ndata: {}\n\n');
  await vi.advanceTimersByTimeAsync(0);
  expect(refreshed).toHaveBeenCalledOnce();
  streams.at(-1)?.close();
  await vi.advanceTimersByTimeAsync(4_000);
  expect(lastIds.at(-1)).toBe('99');
  ending.abort();
  await vi.advanceTimersByTimeAsync(1_000);
  await following;
});

it('refetches everything after a broken stream, because a killed server loses unsaved changes', async () => {
  setCredentials({ userId: USER, apiKey: 'bh_test' });
  const { streams, lastIds } = stubStreams();
  const refreshed = vi.spyOn(queryClient, 'invalidateQueries');
  const ending = new AbortController();
  const following = followChanges(USER, Date.now(), ending.signal);
  await vi.advanceTimersByTimeAsync(0);
  streams.at(-1)?.enqueue(new TextEncoder().encode('id: 42\n\n'));
  await vi.advanceTimersByTimeAsync(0);
  streams.at(-1)?.error(new TypeError('network error'));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(lastIds).toEqual([null, null]);
  expect(refreshed).toHaveBeenCalledOnce();
  ending.abort();
  await vi.advanceTimersByTimeAsync(1_000);
  await following;
});

it('resumes after the last event when the page becomes visible again', async () => {
  setCredentials({ userId: USER, apiKey: 'bh_test' });
  const { streams, lastIds } = stubStreams();
  const refreshed = vi.spyOn(queryClient, 'invalidateQueries');
  const ending = new AbortController();
  const following = followChanges(USER, Date.now(), ending.signal);
  await vi.advanceTimersByTimeAsync(0);
  streams.at(-1)?.enqueue(new TextEncoder().encode('id: 42\n\n'));
  await vi.advanceTimersByTimeAsync(0);
  show(true);
  await vi.advanceTimersByTimeAsync(1_000);
  show(false);
  await vi.advanceTimersByTimeAsync(0);
  expect(lastIds).toEqual([null, '42']);
  expect(refreshed).not.toHaveBeenCalled();
  ending.abort();
  await vi.advanceTimersByTimeAsync(1_000);
  await following;
});

function show(hidden: boolean): void {
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(hidden);
  document.dispatchEvent(new Event('visibilitychange'));
}

it.each([
  ['soon', 0, 1_000],
  ['late', 1, 60_000],
])('a first stream that opens %s refetches everything %i times', async (_when, readings, ms) => {
  setCredentials({ userId: USER, apiKey: 'bh_test' });
  const { streams } = stubStreams();
  const refreshed = vi.spyOn(queryClient, 'invalidateQueries');
  const ending = new AbortController();
  show(true);
  const following = followChanges(USER, Date.now(), ending.signal);
  await vi.advanceTimersByTimeAsync(ms);
  show(false);
  await vi.advanceTimersByTimeAsync(0);
  expect(streams).toHaveLength(1);
  expect(refreshed).toHaveBeenCalledTimes(readings);
  ending.abort();
  await vi.advanceTimersByTimeAsync(1_000);
  await following;
});

it('refetches data that was read long before the first stream opened', async () => {
  setCredentials({ userId: USER, apiKey: 'bh_test' });
  stubStreams();
  const refreshed = vi.spyOn(queryClient, 'invalidateQueries');
  const ending = new AbortController();
  const begunAt = Date.now();
  await vi.advanceTimersByTimeAsync(8_000);
  const following = followChanges(USER, begunAt, ending.signal);
  await vi.advanceTimersByTimeAsync(0);
  expect(refreshed).toHaveBeenCalledOnce();
  ending.abort();
  await vi.advanceTimersByTimeAsync(1_000);
  await following;
});

it('disconnects while the page is hidden, and refetches missed changes when it is visible again', async () => {
  setCredentials({ userId: USER, apiKey: 'bh_test' });
  const { streams, open } = stubStreams();
  const refreshed = vi.spyOn(queryClient, 'invalidateQueries');
  const ending = new AbortController();
  show(true);
  const following = followChanges(USER, Date.now(), ending.signal);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(streams).toHaveLength(0);

  show(false);
  await vi.advanceTimersByTimeAsync(0);
  expect(open()).toBe(1);
  show(true);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([streams.length, open()]).toEqual([1, 0]);

  refreshed.mockClear();
  show(false);
  await vi.advanceTimersByTimeAsync(0);
  expect(open()).toBe(1);
  expect(refreshed).toHaveBeenCalledOnce();
  ending.abort();
  await vi.advanceTimersByTimeAsync(1_000);
  await following;
});

it('abandons a silent stream, reconnects and refetches missed changes', async () => {
  setCredentials({ userId: USER, apiKey: 'bh_test' });
  const { streams } = stubStreams();
  const refreshed = vi.spyOn(queryClient, 'invalidateQueries');
  const ending = new AbortController();
  const following = followChanges(USER, Date.now(), ending.signal);
  await vi.advanceTimersByTimeAsync(0);
  expect(streams).toHaveLength(1);

  // A heartbeat every 15 s keeps the stream alive.
  for (let beat = 0; beat < 4; beat += 1) {
    streams[0]?.enqueue(new TextEncoder().encode(': heartbeat\n\n'));
    await vi.advanceTimersByTimeAsync(15_000);
  }
  expect(streams).toHaveLength(1);

  refreshed.mockClear();
  await vi.advanceTimersByTimeAsync(45_000);
  expect(streams.length).toBeGreaterThan(1);
  expect(refreshed).toHaveBeenCalledOnce();

  ending.abort();
  await vi.advanceTimersByTimeAsync(1_000);
  await following;
});

it('backs off if a proxy cuts every stream, until one stays open', async () => {
  // Without jitter, so that the last stream below doesn't exceed the silence limit.
  vi.spyOn(Math, 'random').mockReturnValue(0);
  setCredentials({ userId: USER, apiKey: 'bh_test' });
  const { streams } = stubStreams();
  const ending = new AbortController();
  const following = followChanges(USER, Date.now(), ending.signal);
  for (let second = 0; second < 120; second += 1) {
    await vi.advanceTimersByTimeAsync(1_000);
    if (second < 119) tryToCut(streams.at(-1));
  }
  expect(streams.length).toBeLessThan(10);

  await vi.advanceTimersByTimeAsync(50_000);
  const before = streams.length;
  streams.at(-1)?.enqueue(new TextEncoder().encode(': heartbeat\n\n'));
  await vi.advanceTimersByTimeAsync(31_000);
  tryToCut(streams.at(-1));
  await vi.advanceTimersByTimeAsync(2_000);
  expect(streams.length).toBe(before + 1);
  ending.abort();
  await vi.advanceTimersByTimeAsync(1_000);
  await following;
});

function tryToCut(stream: ReadableStreamDefaultController<Uint8Array> | undefined): void {
  try {
    stream?.error(new TypeError('network error'));
  } catch {
    // Already closed.
  }
}
