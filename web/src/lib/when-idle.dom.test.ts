import { afterEach, expect, test, vi } from 'vitest';
import { preloadLater } from './when-idle.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A browser whose idle callbacks the test triggers. */
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
    // Lets callers that await the task continue.
    await new Promise((resolve) => setTimeout(resolve));
  };
}

test('each task runs in its own idle callback, after the previous task', async () => {
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

test('cancels tasks that have not started, also while another is running', async () => {
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

test('without input, starts after five seconds and not before', async () => {
  vi.useFakeTimers();
  const work = vi.fn(async () => {});
  preloadLater([work]);
  // Always idle.
  vi.stubGlobal('requestIdleCallback', (idle: () => void) => (idle(), 1));
  await vi.advanceTimersByTimeAsync(4_900);
  expect(work).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(200);
  expect(work).toHaveBeenCalledOnce();
});

test('a task that fails or never ends does not block others', async () => {
  vi.useFakeTimers();
  // Always idle. An unhandled rejection would fail the test.
  vi.stubGlobal('requestIdleCallback', (idle: () => void) => setTimeout(idle));
  const last = vi.fn(async () => {});
  preloadLater([() => Promise.reject(new Error('Lost')), () => new Promise(() => {}), last]);
  dispatchEvent(new Event('keydown'));
  await vi.advanceTimersByTimeAsync(9_000);
  expect(last).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(last).toHaveBeenCalledOnce();
});
