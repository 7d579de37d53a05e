import { expect, test } from 'vitest';
import { forEachAtOnce } from './for-each-at-once.ts';

test('one that takes long keeps only its own turn', async () => {
  const { promise: ends, resolve: end } = Promise.withResolvers<void>();
  const done: number[] = [];
  let busy = 0;
  let most = 0;
  const all = forEachAtOnce([0, 1, 2, 3, 4], 2, async (item) => {
    most = Math.max(most, ++busy);
    if (item === 0) await ends;
    await Promise.resolve();
    done.push(item);
    busy -= 1;
    if (item === 4) end();
  });
  await all;
  expect(done).toEqual([1, 2, 3, 4, 0]);
  expect(most).toBe(2);
});

test('a failure is thrown', async () => {
  await expect(forEachAtOnce([1], 2, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
});
