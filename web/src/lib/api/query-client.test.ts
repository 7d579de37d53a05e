import { expect, test, vi } from 'vitest';
import { ApiError } from './api-error.ts';
import { assetReadLimits } from './asset-read-limits.ts';
import { queryClient, retryDelayMs, shouldRetry, waitForReads } from './query-client.ts';

const failed = (status: number, code?: string) => new ApiError('no', { status, code });

test('retries reads at most three times, and only if a retry may help', () => {
  expect(shouldRetry(0, failed(503), true)).toBe(true);
  expect(shouldRetry(2, failed(0, 'network'), true)).toBe(true);
  expect(shouldRetry(3, failed(503), true)).toBe(false);
  for (const status of [400, 401, 402, 403, 404, 409])
    expect(shouldRetry(0, failed(status), true)).toBe(false);
  expect(shouldRetry(0, failed(503), false)).toBe(false);
  for (const code of ['lookup', 'no_key']) expect(shouldRetry(0, failed(0, code), true)).toBe(false);
  expect(shouldRetry(0, new TypeError('a bug'), true)).toBe(false);
});

test('the delay doubles from one second', () => {
  expect([0, 1, 2].map((failures) => retryDelayMs(failures, 0))).toEqual([1_000, 2_000, 4_000]);
  expect(retryDelayMs(0, 250)).toBe(1_250);
});

test('datasets, models and transactions stay fresh and cached for five minutes', () => {
  for (const key of [
    ['asset', 'list'],
    ['transaction', 'u1'],
  ]) {
    const { staleTime, gcTime } = queryClient.defaultQueryOptions({ queryKey: key });
    expect([staleTime, gcTime]).toEqual([300_000, 300_000]);
  }
});

test('reads of datasets, models and transactions time out after 30 s, on iOS 45 s, and follow no redirects', () => {
  expect(assetReadLimits(false)).toEqual({ timeoutMs: 30_000, redirect: 'error' });
  expect(assetReadLimits(true).timeoutMs).toBe(45_000);
});

test('a page waits for its first reads, but not for failed ones, and at most three seconds', async () => {
  vi.useFakeTimers();
  const ended: string[] = [];
  const wait = (name: string, read: () => Promise<unknown>) =>
    void waitForReads(read).then(() => ended.push(name));
  wait('failed', () => Promise.reject(new Error('away')));
  wait('quick', () => new Promise((resolve) => setTimeout(resolve, 1_000)));
  wait('slow', () => new Promise(() => {}));
  await vi.advanceTimersByTimeAsync(999);
  expect(ended).toEqual(['failed']);
  await vi.advanceTimersByTimeAsync(1);
  expect(ended).toEqual(['failed', 'quick']);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(ended).toEqual(['failed', 'quick', 'slow']);
  vi.useRealTimers();
});
