import { expect, test } from 'vitest';
import { eventStreamParser } from './event-stream-parser.ts';

const text =
  ': hello\n\nevent: change\ndata: {"a":1}\n\nevent: change\r\ndata: one\r\ndata: two\r\n\r\ndata: plain\n\nevent: half\ndata: ';

const expected = [
  { event: 'change', data: '{"a":1}' },
  { event: 'change', data: 'one\ntwo' },
  { event: 'message', data: 'plain' },
];

test('finds whole events and ignores comments and what is unfinished', () => {
  expect(eventStreamParser()(text)).toEqual(expected);
});

test('does not care where the pieces are cut', () => {
  const parse = eventStreamParser();
  expect(Array.from(text).flatMap((letter) => parse(letter))).toEqual(expected);
});
