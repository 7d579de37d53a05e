import { expect, test } from 'vitest';
import { withoutLine } from './without-line.ts';

const line = (name: string) => `{"file_name": "${name}", "text": "a \u2028 loaf"}\n`;

test.each([
  ['the line of the file', line('a.png') + line('b.png'), 'a.png', line('b.png')],
  ['the last one, without a line break', `${line('a.png')}{"file_name":"b.png"}`, 'b.png', line('a.png')],
  ['one with the line breaks of Windows', '{"file_name":"ä.png"}\r\n{"n":1}\r\n', 'ä.png', '{"n":1}\r\n'],
  ['nothing but it', line('in/a.png') + line('A.png'), 'a.png', line('in/a.png') + line('A.png')],
  [
    'nothing of another layout',
    'a.png\n[1]\nnull\n{"picture":"a.png"}',
    'a.png',
    'a.png\n[1]\nnull\n{"picture":"a.png"}',
  ],
])('goes: %s', (_what, before, path, after) => {
  expect(withoutLine(Buffer.from(before), path).toString()).toBe(after);
});

test('what is no text stays byte for byte', () => {
  const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0xff, 0x0a, 0x80]);
  expect(withoutLine(Buffer.concat([bytes, Buffer.from(`\n${line('a.png')}`)]), 'a.png')).toEqual(
    Buffer.concat([bytes, Buffer.from('\n')]),
  );
});
