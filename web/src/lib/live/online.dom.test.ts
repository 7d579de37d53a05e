import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { checkServer, isOnline, lastAnswer, onReconnect, recordServerStatus, watchServer } from './online.ts';

const answer = vi.fn<typeof fetch>();

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('fetch', answer);
  answer.mockReset();
  answer.mockResolvedValue(new Response(null));
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('backs off while the server is unreachable, and reports its return once', async () => {
  const heard: boolean[] = [];
  const back = vi.fn<() => void>();
  const stop = watchServer((online) => heard.push(online));
  const stopListening = onReconnect(back);
  answer.mockRejectedValue(new TypeError('Failed to fetch'));
  const lastSeen = lastAnswer();
  await checkServer();
  expect(isOnline()).toBe(false);
  await vi.advanceTimersByTimeAsync(7_000);
  // After 1, 2 and 4 seconds.
  expect(answer).toHaveBeenCalledTimes(4);
  expect(lastAnswer()).toEqual(lastSeen);

  answer.mockResolvedValue(new Response(null));
  await vi.advanceTimersByTimeAsync(8_000);
  expect(heard).toEqual([false, true]);
  expect(back).toHaveBeenCalledOnce();
  stopListening();
  stop();
});

test.each([502, 503, 504])(
  '%i from a proxy or a stopping server does not count as an answer',
  async (status) => {
    answer.mockResolvedValue(new Response(null, { status }));
    recordServerStatus(status);
    await vi.advanceTimersByTimeAsync(0);
    expect(isOnline()).toBe(false);
    recordServerStatus(status);
    expect(isOnline()).toBe(false);
    recordServerStatus(404);
    expect(isOnline()).toBe(true);
  },
);

test("checks the server's favicon every 30 seconds, with a timeout of 5", async () => {
  const limit = vi.spyOn(AbortSignal, 'timeout');
  const stop = watchServer(() => undefined);
  await checkServer();
  answer.mockClear();
  await vi.advanceTimersByTimeAsync(30_000 - 1);
  expect(answer).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(answer).toHaveBeenCalledExactlyOnceWith('/favicon.svg', expect.objectContaining({ method: 'HEAD' }));
  expect(limit).toHaveBeenLastCalledWith(5_000);
  expect(answer.mock.lastCall?.[1]?.signal).toBe(limit.mock.results.at(-1)?.value);
  stop();
  limit.mockRestore();
});
