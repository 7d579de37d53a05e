import { afterEach, expect, test, vi } from 'vitest';
import { preloadLater } from './when-idle.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A browser whose idle moments come when the test says so. */
function idleMoments() {
  const waiting = new Map<number, () => void>();
  let last = 0;
  vi.stubGlobal('requestIdleCallback', (work: () => void) => {
    last += 1;
    waiting.set(last, work);
    return last;
  });
  vi.stubGlobal('cancelIdleCallback', (handle: number) => waiting.delete(handle));
  return async () => {
    const works = [...waiting.values()];
    waiting.clear();
    for (const work of works) work();
    // Who waits for the end of a work goes on.
    await new Promise((resolve) => setTimeout(resolve));
  };
}

test('each work has an idle moment of its own, after the one before has ended', async () => {
  const nextMoment = idleMoments();
  const first = Promise.withResolvers<void>();
  const begun: string[] = [];
  preloadLater([
    () => (begun.push('first'), first.promise),
    async () => void begun.push('second'),
    async () => void begun.push('third'),
  ]);
  await nextMoment();
  expect(begun).toEqual([]);
  dispatchEvent(new Event('keydown'));
  await nextMoment();
  await nextMoment();
  expect(begun).toEqual(['first']);
  first.resolve();
  await first.promise;
  await nextMoment();
  expect(begun).toEqual(['first', 'second']);
  await nextMoment();
  expect(begun).toEqual(['first', 'second', 'third']);
});

test('what has not begun is called off, also while a work is under way', async () => {
  const nextMoment = idleMoments();
  const first = Promise.withResolvers<void>();
  const begun: string[] = [];
  const callOff = preloadLater([
    () => (begun.push('first'), first.promise),
    async () => void begun.push('second'),
  ]);
  dispatchEvent(new Event('pointerdown'));
  await nextMoment();
  callOff();
  first.resolve();
  await nextMoment();
  await nextMoment();
  expect(begun).toEqual(['first']);
});

test('without any input it begins after five seconds, and not before', async () => {
  vi.useFakeTimers();
  const work = vi.fn(async () => {});
  preloadLater([work]);
  // The moment is idle at once.
  vi.stubGlobal('requestIdleCallback', (idle: () => void) => (idle(), 1));
  await vi.advanceTimersByTimeAsync(4_900);
  expect(work).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(200);
  expect(work).toHaveBeenCalledOnce();
});

test('a work that fails, or that never ends, holds up no other', async () => {
  vi.useFakeTimers();
  // Each moment is idle. A rejection that nobody heard would fail the test.
  vi.stubGlobal('requestIdleCallback', (idle: () => void) => setTimeout(idle));
  const last = vi.fn(async () => {});
  preloadLater([() => Promise.reject(new Error('Lost')), () => new Promise(() => {}), last]);
  dispatchEvent(new Event('keydown'));
  await vi.advanceTimersByTimeAsync(9_000);
  expect(last).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(last).toHaveBeenCalledOnce();
});
