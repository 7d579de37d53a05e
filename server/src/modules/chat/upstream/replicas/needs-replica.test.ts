import { expect, it } from 'vitest';
import { needsReplica } from './needs-replica.ts';

it.each([
  ['none of its places taken', [0], false],
  ['all of its places taken', [4], true],
  ['room in one of two', [4, 3], false],
  ['room in a new one, while requests still wait for the first', [9, 0], false],
  ['two that are full', [4, 4], true],
])('judges %s', (_case, loads, needed) => {
  expect(needsReplica({ loads, places: 4 })).toBe(needed);
});

it('counts only the places of this process if others use the server too', () => {
  expect(needsReplica({ loads: [2], places: 2 })).toBe(true);
});
