import { expect, it } from 'vitest';
import { assertAnswerFits } from './answer-embeddings.ts';

const vector = (numbers: number) => Buffer.alloc(numbers * 4);

it('accepts as many inputs as fit into one answer', () => {
  expect(() => assertAnswerFits({}, { count: 2048, vector: vector(768) })).not.toThrow();
  expect(() => assertAnswerFits({}, { count: 2048, vector: vector(1024) })).toThrow(
    /input: at most 1560 inputs.*1024 numbers/,
  );
  expect(() => assertAnswerFits({ dimensions: 512 }, { count: 2048, vector: vector(1024) })).not.toThrow();
  expect(() =>
    assertAnswerFits({ encoding_format: 'base64' }, { count: 2048, vector: vector(2048) }),
  ).not.toThrow();
  expect(() => assertAnswerFits({}, { count: 1, vector: vector(65_536) })).not.toThrow();
});
