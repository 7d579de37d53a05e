import { expect, test } from 'vitest';
import { pictureFiles, pngOf } from '../generations/testing/picture-files.ts';
import { inspectPicture } from './inspect-picture.ts';

const files = pictureFiles;

test.each([
  ['png', 'image/png'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['losslessWebp', 'image/webp'],
  ['extendedWebp', 'image/webp'],
] as const)('reads type and size of a file: %s', (name, mediaType) => {
  expect(inspectPicture(files[name])).toEqual({ mediaType, width: 6, height: 4 });
  const cut = files[name].subarray(0, -2);
  expect(() => inspectPicture(cut), 'a cut one').toThrow('The picture is damaged or incomplete');
});

test.each([
  ['gif', 'The picture must be a PNG, JPEG or WebP file'],
  ['svg', 'The picture must be a PNG, JPEG or WebP file'],
  ['text', 'The picture must be a PNG, JPEG or WebP file'],
  ['bomb', 'The picture has more than 40 megapixels'],
  ['animatedWebp', 'The picture is an animation'],
  ['animatedPng', 'The picture is an animation'],
] as const)('refuses unsupported files with a reason: %s', (name, message) => {
  expect(() => inspectPicture(files[name])).toThrow(message);
});

test('reports arbitrary bytes after a PNG signature as damaged, not as too large', () => {
  const junk = Buffer.concat([files.png.subarray(0, 8), Buffer.alloc(800, 0xee)]);
  expect(() => inspectPicture(junk)).toThrow('The picture is damaged or incomplete');
});

test('a picture has 1 pixel to 40 megapixels', () => {
  expect(inspectPicture(pngOf(8000, 5000))).toMatchObject({ width: 8000, height: 5000 });
  expect(() => inspectPicture(pngOf(8000, 5001))).toThrow('megapixels');
  expect(() => inspectPicture(pngOf(0, 4))).toThrow('damaged');
});

test('accepts at most 20 scans in a JPEG, because each scan decodes every pixel', () => {
  const [start, end] = [files.jpeg.subarray(0, -2), files.jpeg.subarray(-2)];
  const scan = Buffer.from([0xff, 0xda, 0, 8, 1, 1, 0, 1, 5, 0x10]);
  const scans = (count: number) => Array.from({ length: count }, () => scan);
  const of = (count: number) => Buffer.concat([start, ...scans(count - 1), end]);
  expect(inspectPicture(of(20))).toMatchObject({ mediaType: 'image/jpeg', width: 6 });
  expect(() => inspectPicture(of(21))).toThrow('more than 20 scans');
  // Scans after the picture and in its metadata do not count.
  const video = Buffer.concat([files.jpeg, ...scans(200)]);
  const note = Buffer.from([0xff, 0xed, 0x08, 0x02]);
  const noted = Buffer.concat([
    files.jpeg.subarray(0, 2),
    note,
    ...scans(204),
    Buffer.alloc(8),
    files.jpeg.subarray(2),
  ]);
  for (const bytes of [video, noted]) expect(inspectPicture(bytes)).toMatchObject({ width: 6 });
});

const some = (count: number, part: string) => Buffer.alloc(count * (part.length / 2), part, 'hex');
test.each([
  ['segments', files.jpeg, 2, 'fffe0002'],
  ['markers', files.jpeg, 2, 'ffd0'],
  ['bytes between segments', files.jpeg, 2, 'ff'],
  ['segments in a scan', files.jpeg, files.jpeg.length - 2, 'fffe0002'],
  ['chunks', files.png, 33, '000000007445587400000000'],
] as const)('limits the number of parts: %s', (_what, file, at, part) => {
  const of = (count: number) => Buffer.concat([file.subarray(0, at), some(count, part), file.subarray(at)]);
  expect(() => inspectPicture(of(50_001))).toThrow('The picture is stored in too many pieces');
  if (part !== 'ffd0') expect(inspectPicture(of(49_000))).toMatchObject({ width: 6, height: 4 });
});

test('restart markers in a scan and bytes after the image do not count as parts', () => {
  const [start, end] = [files.jpeg.subarray(0, -2), files.jpeg.subarray(-2)];
  const restarted = Buffer.concat([start, some(60_000, '12ffd0'), end, some(60_000, 'fffe0002'), end]);
  expect(inspectPicture(restarted)).toMatchObject({ width: 6, height: 4 });
});

test('limits the aspect ratio to 16:1', () => {
  expect(inspectPicture(pngOf(1600, 100))).toMatchObject({ width: 1600, height: 100 });
  for (const [width, height] of [
    [1601, 100],
    [100, 1601],
    [1, 40_000_000],
  ] as const)
    expect(() => inspectPicture(pngOf(width, height))).toThrow('The picture is too narrow');
});

test('every truncated file is refused without crashing', () => {
  for (const [name, bytes] of Object.entries(files).filter(([file]) => file !== 'bomb'))
    for (let length = 0; length < bytes.length - 2; length += 1)
      expect(() => inspectPicture(bytes.subarray(0, length)), `${name} ${length}`).toThrow(/^The picture /);
});
