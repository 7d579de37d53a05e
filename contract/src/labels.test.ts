import { expect, test } from 'vitest';
import { formatBytes } from './labels.ts';
import { FILE_SIZE_LIMIT_BYTES } from './limits.ts';

test.each([
  [0, '0 Bytes'],
  [1023, '1023 Bytes'],
  [1536, '1.50 KB'],
  [FILE_SIZE_LIMIT_BYTES, '500.00 MB'],
  [2.25 * 1024 ** 3, '2.25 GB'],
  [3 * 1024 ** 4, '3.00 TB'],
  [5000 * 1024 ** 4, '5000.00 TB'],
])('%i bytes are shown as %s', (bytes, shown) => {
  expect(formatBytes(bytes)).toBe(shown);
});

test('a file may have 500 MB', () => {
  expect(FILE_SIZE_LIMIT_BYTES).toBe(524_288_000);
});
