import { expect, it } from 'vitest';
import { longestFirst, toBatches, toInputs, tokensMax } from './embedding-inputs.ts';

it.each([
  ['a text', 'bread', ['bread']],
  ['texts', ['bread', 'dough'], ['bread', 'dough']],
  ['the ids of one text', [101, 7, 102], [[101, 7, 102]]],
  [
    'ids',
    [
      [101, 102],
      [101, 7, 102],
    ],
    [
      [101, 102],
      [101, 7, 102],
    ],
  ],
])('reads %s', (_case, input, inputs) => {
  expect(toInputs(input)).toEqual(inputs);
});

it('sends at most 32 inputs and 16 KB per batch, and larger inputs alone', () => {
  const sizes = (inputs: string[]) =>
    toBatches(inputs).map(({ start, inputs: part }) => [start, part.length]);
  expect(sizes(Array.from({ length: 70 }, () => 'x'))).toEqual([
    [0, 32],
    [32, 32],
    [64, 6],
  ]);
  expect(sizes(['x'.repeat(20_000), 'a', 'b'])).toEqual([
    [0, 1],
    [1, 2],
  ]);
  expect(sizes(['x'.repeat(9_000), 'y'.repeat(9_000)])).toEqual([
    [0, 1],
    [1, 1],
  ]);
});

it('sends the batch with the longest input first and the others in order', () => {
  const inputs = Array.from({ length: 100 }, (_, index) => (index === 70 ? 'longer' : 'x'));
  expect(longestFirst(toBatches(inputs)).map(({ start }) => start)).toEqual([64, 0, 32, 96]);
});

it('reserves one token per byte, and at most the context per input', () => {
  expect(tokensMax(['é'], 4096)).toBe(6);
  expect(tokensMax(['x'.repeat(100_000), 'x'], 4096)).toBe(4096 + 5);
});
