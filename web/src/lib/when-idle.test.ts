import { expect, test, vi } from 'vitest';
import { oneByOneWhenIdle } from './when-idle.ts';

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
  oneByOneWhenIdle([
    () => (begun.push('first'), first.promise),
    async () => void begun.push('second'),
    async () => void begun.push('third'),
  ]);
  expect(begun).toEqual([]);
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
  const callOff = oneByOneWhenIdle([
    () => (begun.push('first'), first.promise),
    async () => void begun.push('second'),
  ]);
  await nextMoment();
  callOff();
  first.resolve();
  await nextMoment();
  await nextMoment();
  expect(begun).toEqual(['first']);
});
