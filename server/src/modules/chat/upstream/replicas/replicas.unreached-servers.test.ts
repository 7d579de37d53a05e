import { expect, it } from 'vitest';
import { trackUnreachableServers } from './replicas.ts';

it('skips a server for ten seconds after the last failed connection', () => {
  let now = 0;
  const unreached = trackUnreachableServers(() => now);
  expect(unreached.has('http://a')).toBe(false);
  unreached.record('http://a');
  now = 5_000;
  unreached.record('http://a');
  now = 14_999;
  expect([unreached.has('http://a'), unreached.has('http://b')]).toEqual([true, false]);
  now = 15_000;
  expect(unreached.has('http://a')).toBe(false);
});
