import { expect, it } from 'vitest';
import { needsReplica } from './replicas.ts';

it.each([
  ['no occupied place', [0], false],
  ['only occupied places', [4], true],
  ['a free place in one of two', [4, 3], false],
  ['a free place in a new replica, while requests wait for the first replica', [9, 0], false],
  ['two full replicas', [4, 4], true],
])('decides whether a replica is needed: %s', (_case, loads, needed) => {
  expect(needsReplica({ loads, places: 4 })).toBe(needed);
});

it("counts only this process's share of the slots if other processes use the server too", () => {
  expect(needsReplica({ loads: [2], places: 2 })).toBe(true);
});
