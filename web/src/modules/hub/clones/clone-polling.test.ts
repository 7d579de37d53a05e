import { expect, test } from 'vitest';
import { clonePolling, nextInterval } from './clone-polling.ts';

test('polls a stalled clone less often, and a progressing one more often', () => {
  const still = [3_000];
  for (let asked = 0; asked < 4; asked += 1) still.push(nextInterval(still.at(-1) ?? 0, false));
  expect(still).toEqual([3_000, 4_500, 6_750, 10_000, 10_000]);
  const moving = [10_000];
  for (let asked = 0; asked < 4; asked += 1) moving.push(nextInterval(moving.at(-1) ?? 0, true));
  expect(moving.map(Math.round)).toEqual([10_000, 7_000, 4_900, 3_430, 3_000]);
  expect(clonePolling).toMatchObject({ tickMs: 1_000, pauseMs: 500 });
});
