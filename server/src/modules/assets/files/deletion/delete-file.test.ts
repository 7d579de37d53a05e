import { expect, test } from 'vitest';
import { withoutLine } from './delete-file.ts';

const line = (name: string) => `{"file_name": "${name}", "text": "a \u2028 loaf"}\n`;

test.each([
  ["removes the file's line", line('a.png') + line('b.png'), 'a.png', line('b.png')],
  [
    'removes a last line without a line break',
    `${line('a.png')}{"file_name":"b.png"}`,
    'b.png',
    line('a.png'),
  ],
  ['removes a line with Windows line breaks', '{"file_name":"ä.png"}\r\n{"n":1}\r\n', 'ä.png', '{"n":1}\r\n'],
  ['removes no other line', line('in/a.png') + line('A.png'), 'a.png', line('in/a.png') + line('A.png')],
  [
    'preserves other layouts',
    'a.png\n[1]\nnull\n{"picture":"a.png"}',
    'a.png',
    'a.png\n[1]\nnull\n{"picture":"a.png"}',
  ],
])('%s', (_what, before, path, after) => {
  expect(withoutLine(Buffer.from(before), path).toString()).toBe(after);
});

test('preserves invalid text byte for byte', () => {
  const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0xff, 0x0a, 0x80]);
  expect(withoutLine(Buffer.concat([bytes, Buffer.from(`\n${line('a.png')}`)]), 'a.png')).toEqual(
    Buffer.concat([bytes, Buffer.from('\n')]),
  );
});
