import { expect, test } from 'vitest';
import { generationOf } from '../testing/generation-of.ts';
import { neighboursOf } from './neighbours.ts';

const listOf = (...ids: string[]) => ids.map((id) => generationOf({ id }));
const adjacentIds = (lists: Parameters<typeof neighboursOf>[0], id: string) => {
  const { before, after } = neighboursOf(lists, id);
  return [before?.id, after?.id];
};

test('takes the neighbours of a generation from the longest list that contains it', () => {
  const lists = [listOf('a', 'b'), listOf('a', 'x', 'b', 'c'), listOf('p', 'q', 'r', 's', 't')];
  expect(adjacentIds(lists, 'b')).toEqual(['x', 'c']);
  expect(adjacentIds(lists, 'a')).toEqual([undefined, 'x']);
  expect(adjacentIds(lists, 't')).toEqual(['s', undefined]);
  expect(adjacentIds(lists, 'z')).toEqual([undefined, undefined]);
});
