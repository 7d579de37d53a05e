import { expect, it } from 'vitest';
import { blameFailure, chooseAdapters } from './choose-adapters.ts';

const wanted = [
  { revisionId: 'new-1', proven: false },
  { revisionId: 'old', proven: true },
  { revisionId: 'new-2', proven: false },
];

it('loads all together, and after a failure the new ones one at a time', () => {
  expect(chooseAdapters(wanted, false)).toEqual(['old', 'new-1', 'new-2']);
  expect(chooseAdapters(wanted, true)).toEqual(['old', 'new-1']);
});

it('blames the one adapter that was new, never one that has answered before', () => {
  expect(blameFailure(['old', 'new-1'], wanted)).toEqual({ blame: 'adapter', revisionId: 'new-1' });
  expect(blameFailure(['old', 'new-1', 'new-2'], wanted)).toEqual({ blame: 'unknown' });
  expect(blameFailure(['old'], wanted)).toEqual({ blame: 'server' });
  expect(blameFailure([], wanted)).toEqual({ blame: 'server' });
});
