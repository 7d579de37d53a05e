import { PICTURE_BYTES_MAX } from '@bakehouse/contract/media';
import { expect, test } from 'vitest';
import { pictureProblem } from './picture-problem.ts';

const bytesOf = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
const png = bytesOf('\x89PNG\r\n\x1a\n and more');
const small = async () => ({ width: 1_000, height: 1_000 });
const problem = (bytes: Uint8Array<ArrayBuffer>, measure: Parameters<typeof pictureProblem>[1] = small) =>
  pictureProblem(new File([bytes], 'bread.png', { type: 'image/png' }), measure);

test.each([
  ['PNG', png],
  ['JPEG', bytesOf('\xff\xd8\xff\xe0 and more')],
  ['WebP', bytesOf('RIFF\x10\0\0\0WEBPVP8 ')],
])('accepts a %s', async (_, bytes) => {
  expect(await problem(bytes)).toBeNull();
});

test.each([
  ['text', bytesOf('A loaf of bread, once more')],
  ['SVG', bytesOf('<svg xmlns="http://www.w3.org/2000/svg"/>')],
  ['GIF', bytesOf('GIF89a and more')],
  ['another RIFF', bytesOf('RIFF\x10\0\0\0WAVEfmt ')],
  ['nothing', bytesOf('')],
])('rejects %s by its bytes, whatever its name says', async (_, bytes) => {
  expect(await problem(bytes)).toBe('The picture must be a PNG, JPEG or WebP file');
});

test('reports one byte too many before reading anything', async () => {
  const sized = (size: number) =>
    Object.defineProperty(new File([png], 'bread.png'), 'size', { value: size });
  expect(await pictureProblem(sized(PICTURE_BYTES_MAX), small)).toBeNull();
  expect(await pictureProblem(sized(PICTURE_BYTES_MAX + 1), small)).toBe('The picture is larger than 20 MB');
});

test('rejects a picture that no browser can decode, and accepts 40 megapixels', async () => {
  expect(await problem(png, () => Promise.reject(new Error('broken')))).toBe(
    'The picture is damaged or incomplete',
  );
  expect(await problem(png, async () => ({ width: 8_000, height: 5_000 }))).toBeNull();
  expect(await problem(png, async () => ({ width: 8_000, height: 5_001 }))).toBe(
    'The picture has more than 40 megapixels',
  );
});

test('accepts a ratio of up to 16 to 1', async () => {
  expect(await problem(png, async () => ({ width: 100, height: 1_600 }))).toBeNull();
  expect(await problem(png, async () => ({ width: 100, height: 1_601 }))).toBe(
    'The picture is too narrow: one side is more than 16 times as long as the other',
  );
});
