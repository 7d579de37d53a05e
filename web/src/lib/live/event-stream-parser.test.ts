import { expect, test } from 'vitest';
import { eventStreamParser } from './event-stream-parser.ts';

const text =
  ': hello\n\nid: 7\n\nid: 8\nevent: change\ndata: {"a":1}\n\nevent: change\r\ndata: one\r\ndata: two\r\n\r\ndata: plain\n\nevent: half\ndata: ';

const expected = [
  { event: null, data: '', id: '7' },
  { event: 'change', data: '{"a":1}', id: '8' },
  { event: 'change', data: 'one\ntwo', id: null },
  { event: 'message', data: 'plain', id: null },
];

test('parses whole events and ignores comments and incomplete events', () => {
  expect(eventStreamParser()(text)).toEqual(expected);
});

test('handles chunks cut anywhere', () => {
  const parse = eventStreamParser();
  expect(Array.from(text).flatMap((letter) => parse(letter))).toEqual(expected);
});
