import { expect, it } from 'vitest';
import { serverShares } from './server-shares.ts';

const beat = (asked: Record<string, number>) => ({ others: { count: 9, lastSeenMs: 0, asked } });

it('shares a server with those processes that send to it, and not with all there are', () => {
  const shares = serverShares();
  // Before it has heard of the others it takes the least.
  expect(shares.sharers('rye')).toBe(Number.POSITIVE_INFINITY);
  shares.onBeat(beat({}));
  expect(shares.sharers('rye')).toBe(1);
  shares.onBeat(beat({ rye: 2 }));
  expect([shares.sharers('rye'), shares.sharers('spelt')]).toEqual([3, 1]);
});

it('tells the others of each server that it has sent to since, once more after the last request', () => {
  const shares = serverShares();
  expect(shares.asked()).toEqual([]);
  const end = shares.begin('rye');
  shares.begin('spelt')();
  expect(shares.asked()).toEqual(['rye', 'spelt']);
  expect(shares.asked()).toEqual(['rye']);
  end();
  end();
  shares.begin('rye');
  expect(shares.asked()).toEqual(['rye']);
});
