import { expect, it } from 'vitest';
import { chooseReplica } from './replicas.ts';

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

it('chooses the first replica with a free slot, otherwise the one with the fewest requests', () => {
  expect(chosen({})).toBe('a');
  expect(chosen({ a: 4 })).toBe('b');
  expect(chosen({ a: 6, b: 5, c: 7 })).toBe('b');
});

it('avoids servers that this request has tried, while there are others', () => {
  expect(chosen({}, { tried: ['a'] })).toBe('b');
  expect(chosen({ b: 9, c: 8 }, { tried: ['a'] })).toBe('c');
  expect(chosen({}, { tried: ['a', 'b', 'c'] })).toBe('a');
});

it('avoids recently unreachable servers, even if the others are full, unless all others were tried', () => {
  expect(chosen({}, { unreached: ['a'] })).toBe('b');
  expect(chosen({ b: 9, c: 8 }, { unreached: ['a'] })).toBe('c');
  expect(chosen({}, { tried: ['b', 'c'], unreached: ['a'] })).toBe('a');
  expect(chosen({}, { unreached: ['a', 'b', 'c'] })).toBe('a');
});
