import { expect, it } from 'vitest';
import { chooseReplica } from './choose-replica.ts';

const replicas = ['a', 'b', 'c'].map((id) => ({ id, isOwn: true, engine: 'llamacpp' as const }));

function chosen(loads: Record<string, number>, tried: string[] = []): string {
  const turns = { load: ({ id }: { id: string }) => loads[id] ?? 0, places: () => 4 };
  return chooseReplica(turns, replicas, new Set(tried)).id;
}

it('is the first with a free place, and else the one with the fewest requests', () => {
  expect(chosen({})).toBe('a');
  expect(chosen({ a: 4 })).toBe('b');
  expect(chosen({ a: 6, b: 5, c: 7 })).toBe('b');
});

it('is none that was tried in vain, as long as there is another', () => {
  expect(chosen({}, ['a'])).toBe('b');
  expect(chosen({ b: 9, c: 8 }, ['a'])).toBe('c');
  expect(chosen({}, ['a', 'b', 'c'])).toBe('a');
});
