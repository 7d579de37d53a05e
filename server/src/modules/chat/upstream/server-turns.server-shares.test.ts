import { expect, it } from 'vitest';
import { serverShares } from './server-turns.ts';

const beat = (asked: Record<string, number>) => ({ others: { count: 9, lastSeenMs: 0, asked } });

it("divides a server's slots among the processes that use it, not among all processes", () => {
  const shares = serverShares();
  // Before the first heartbeat, the other processes are unknown, so use the smallest share.
  expect(shares.sharers('rye')).toBe(Number.POSITIVE_INFINITY);
  shares.onBeat(beat({}));
  expect(shares.sharers('rye')).toBe(1);
  shares.onBeat(beat({ rye: 2 }));
  expect([shares.sharers('rye'), shares.sharers('spelt')]).toEqual([3, 1]);
});

it('reports each server that had requests since the last report, and once more after its last request', () => {
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
