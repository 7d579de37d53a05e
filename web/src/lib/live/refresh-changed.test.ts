import { focusManager, QueryObserver } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { queryClient } from '../api/query-client.ts';
import { changeRefresher, concerns, refreshMissed } from './refresh-changed.ts';

const run = (id: string) => ({ topic: 'run' as const, id });

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
  queryClient.clear();
});

test('a change affects lists and the resource itself, but not other resources', () => {
  expect(concerns(run('a'), ['run', 'list'])).toBe(true);
  expect(concerns(run('a'), ['run', 'one', 'a'])).toBe(true);
  expect(concerns(run('a'), ['run', 'metrics', 'b'])).toBe(false);
  expect(concerns(run('a'), ['asset', 'list'])).toBe(false);
  expect(concerns({ topic: 'asset', id: 'a' }, ['asset', 'readiness', 'b'])).toBe(false);
  for (const part of ['preview', 'columns', 'row'])
    expect(concerns({ topic: 'asset', id: 'a' }, ['asset', part, { assetId: 'a' }])).toBe(false);
  expect(concerns({ topic: 'asset', id: 'a' }, ['asset', 'versions', { assetId: 'a' }])).toBe(true);
  expect(concerns({ topic: 'balance', id: 'u' }, ['transaction', 'u', {}])).toBe(true);
  expect(concerns({ topic: 'api_key', id: 'k' }, ['api-key', 'u'])).toBe(true);
});

test('progress of a generation that is being watched does not refetch lists', async () => {
  const list = ['generation', 'list', 'u'];
  const step = { topic: 'generation' as const, id: 'g' };
  const isRead = vi.fn<(key: string) => void>();
  const watch = (key: string[]) =>
    new QueryObserver(queryClient, {
      queryKey: key,
      queryFn: () => isRead(key.join(' ')) ?? null,
      initialData: null,
    }).subscribe(() => undefined);
  const refresh = changeRefresher(new AbortController().signal);
  const stopList = watch(list);
  refresh(step);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(isRead.mock.calls).toEqual([['generation list u']]);

  const stopOne = watch(['generation', 'one', 'g']);
  refresh(step);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(isRead.mock.calls.slice(1)).toEqual([['generation one g']]);
  stopList();
  stopOne();
});

test('a change during the first fetch triggers another fetch', async () => {
  const before = Promise.withResolvers<string>();
  const reads = vi.fn<() => Promise<string>>(async () => 'after').mockReturnValueOnce(before.promise);
  const queryKey = ['asset', 'list', 'u'];
  const stop = new QueryObserver(queryClient, { queryKey, queryFn: reads }).subscribe(() => undefined);
  changeRefresher(new AbortController().signal)({ topic: 'asset', id: 'a' });
  await vi.advanceTimersByTimeAsync(2_000);
  before.resolve('before');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(queryClient.getQueryData(queryKey)).toBe('after');
  expect(reads).toHaveBeenCalledTimes(2);
  stop();
});

test('a failed query is refetched after a silence, but not by changes', async () => {
  const reads = vi.fn<() => Promise<string>>(() => Promise.reject(new Error('The disk is on fire')));
  const queryKey = ['run', 'list', 'u'];
  const observer = new QueryObserver(queryClient, { queryKey, queryFn: reads, retry: false });
  const stop = observer.subscribe(() => undefined);
  const refresh = changeRefresher(new AbortController().signal);
  refresh(run('a'));
  await vi.advanceTimersByTimeAsync(3_000);
  refresh(run('a'));
  await vi.advanceTimersByTimeAsync(3_000);
  expect(reads).toHaveBeenCalledTimes(1);
  expect(observer.getCurrentResult().status).toBe('error');
  refreshMissed();
  await vi.advanceTimersByTimeAsync(100);
  expect(reads).toHaveBeenCalledTimes(2);
  stop();
});

test('a hidden query that waits for a retry does not block other refetches', async () => {
  focusManager.setFocused(false);
  const failing = async () => Promise.reject(new Error('The disk is on fire'));
  const reads = vi.fn<() => string>(() => 'read');
  const watch = (family: string, queryFn: () => string | Promise<string>) =>
    new QueryObserver(queryClient, {
      queryKey: [family, 'list'],
      queryFn,
      retry: 3,
      initialData: 'before',
    }).subscribe(() => undefined);
  const stops = [watch('run', failing), watch('asset', reads)];
  await vi.advanceTimersByTimeAsync(0);
  const refresh = changeRefresher(new AbortController().signal);
  refresh(run('a'));
  await vi.advanceTimersByTimeAsync(10_000);
  reads.mockClear();
  refresh({ topic: 'asset', id: 'b' });
  await vi.advanceTimersByTimeAsync(30_000);
  expect(reads).toHaveBeenCalledOnce();
  for (const stop of stops) stop();
  focusManager.setFocused(undefined);
});

test('coalesces bursts of changes into one refetch per second', async () => {
  const invalidated = vi.spyOn(queryClient, 'invalidateQueries');
  const refresh = changeRefresher(new AbortController().signal);
  for (let moment = 0; moment < 20; moment += 1) {
    refresh(run('a'));
    await vi.advanceTimersByTimeAsync(100);
  }
  // At 0.25 s and 1.25 s; the latest changes are still queued.
  expect(invalidated).toHaveBeenCalledTimes(2);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(invalidated).toHaveBeenCalledTimes(3);
});

test('after a gap, refetches only queries with change events', () => {
  const stale = (...key: string[]) => queryClient.getQueryState(key)?.isInvalidated;
  for (const key of [['run', 'list'], ['asset', 'preview'], ['prices'], ['session']])
    queryClient.setQueryData(key, {});
  refreshMissed();
  expect([stale('run', 'list'), stale('asset', 'preview'), stale('prices'), stale('session')]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
