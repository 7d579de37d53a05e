import { expect, it } from 'vitest';
import { chooseReplica } from './choose-replica.ts';

const replicas = ['a', 'b', 'c'].map((id) => ({
  id,
  isOwn: true,
  engine: 'llamacpp' as const,
  baseUrl: `http://${id}`,
}));

function chosen(
  loads: Record<string, number>,
  { tried = [], unreached = [] }: { tried?: string[]; unreached?: string[] } = {},
): string {
  const known = {
    load: ({ id }: { id: string }) => loads[id] ?? 0,
    places: () => 4,
    unreached: { has: (baseUrl: string) => unreached.some((id) => baseUrl === `http://${id}`) },
    tried: new Set(tried),
  };
  return chooseReplica(known, replicas).id;
}

it('is the first with a free place, and else the one with the fewest requests', () => {
  expect(chosen({})).toBe('a');
  expect(chosen({ a: 4 })).toBe('b');
  expect(chosen({ a: 6, b: 5, c: 7 })).toBe('b');
});

it('is none that was tried in vain, as long as there is another', () => {
  expect(chosen({}, { tried: ['a'] })).toBe('b');
  expect(chosen({ b: 9, c: 8 }, { tried: ['a'] })).toBe('c');
  expect(chosen({}, { tried: ['a', 'b', 'c'] })).toBe('a');
});

it('is none that could not be reached lately, however full the others are, unless there is no other to try', () => {
  expect(chosen({}, { unreached: ['a'] })).toBe('b');
  expect(chosen({ b: 9, c: 8 }, { unreached: ['a'] })).toBe('c');
  expect(chosen({}, { tried: ['b', 'c'], unreached: ['a'] })).toBe('a');
  expect(chosen({}, { unreached: ['a', 'b', 'c'] })).toBe('a');
});
