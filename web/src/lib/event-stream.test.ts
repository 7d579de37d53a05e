import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { setCredentials } from './credentials.ts';
import { followChanges } from './event-stream.ts';
import { queryClient } from './query-client.ts';

const USER = '11111111-1111-4111-8111-111111111111';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Answers every request with a stream that stays open; resolves to their controllers. */
function stubStreams() {
  const streams: ReadableStreamDefaultController<Uint8Array>[] = [];
  let open = 0;
  vi.stubGlobal('fetch', (_url: string, { method, signal }: RequestInit) => {
    // Whether the server is there at all.
    if (method === 'HEAD') return Promise.resolve(new Response(null));
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
  return { streams, open: () => open };
}

function show(hidden: boolean): void {
  vi.spyOn(document, 'hidden', 'get').mockReturnValue(hidden);
  document.dispatchEvent(new Event('visibilitychange'));
}

it('lets go of its connection while the page is out of sight, and reads what it may have missed when it is back', async () => {
  setCredentials({ userId: USER, apiKey: 'bh_test' });
  const { streams, open } = stubStreams();
  const refreshed = vi.spyOn(queryClient, 'invalidateQueries');
  const ending = new AbortController();
  show(true);
  const following = followChanges(USER, ending.signal);
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

it('gives up a stream that has gone silent, connects again, and reads what it may have missed', async () => {
  setCredentials({ userId: USER, apiKey: 'bh_test' });
  const { streams } = stubStreams();
  const refreshed = vi.spyOn(queryClient, 'invalidateQueries');
  const ending = new AbortController();
  const following = followChanges(USER, ending.signal);
  await vi.advanceTimersByTimeAsync(0);
  expect(streams).toHaveLength(1);

  // A heartbeat every 15 s keeps it.
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
