import { act, renderHook } from '@testing-library/react';
import { expect, it, vi } from 'vitest';
import { useInitialQueries } from './use-initial-queries.ts';

const waiting = { isPending: true, failureCount: 0 };
const there = { isPending: false, failureCount: 0 };
const triedAgain = { isPending: true, failureCount: 1 };

it('waits for every read once, but not for failed reads', () => {
  const { result, rerender } = renderHook((reads) => useInitialQueries(...reads), {
    initialProps: [waiting, there],
  });
  expect(result.current).toBe(false);
  rerender([triedAgain, there]);
  expect(result.current).toBe(true);
  rerender([there, waiting]);
  expect(result.current).toBe(true);
});

it('a slow read delays the page by three seconds at most', () => {
  vi.useFakeTimers();
  const { result } = renderHook(() => useInitialQueries(waiting));
  act(() => void vi.advanceTimersByTime(2_900));
  expect(result.current).toBe(false);
  act(() => void vi.advanceTimersByTime(200));
  expect(result.current).toBe(true);
  vi.useRealTimers();
});
