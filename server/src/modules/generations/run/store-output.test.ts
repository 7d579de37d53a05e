import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { PICTURE_BYTES_MAX } from '@bakehouse/contract/media';
import { expect, test, vi } from 'vitest';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import { testServer } from '../../../testing/test-server.ts';
import { PIXEL } from '../testing/image-server.ts';
import { pictureFiles } from '../testing/picture-files.ts';
import { storeOutput } from './store-output.ts';

const { services } = await testServer();
const declared = { mediaType: 'image/png', width: 6, height: 4 } as const;

/** Stores what comes in these pieces. */
function store(pieces: Buffer[], said: typeof declared | object = declared, bytesMax = PICTURE_BYTES_MAX) {
  const onCome = vi.fn(async () => undefined);
  const output = { bytes: Readable.from(pieces), declared: { ...declared, ...said }, durationS: null };
  return { onCome, stored: storeOutput(services, output, { userId: 'ada', medium: { bytesMax }, onCome }) };
}

test('an output is stored as it comes, and is what it is said to be', async () => {
  const { png } = pictureFiles;
  const { stored, onCome } = store([png.subarray(0, 9), png.subarray(9)]);
  const { sha256, ...rest } = await stored;
  expect(rest).toEqual({ ...declared, sizeBytes: png.length, durationS: null, thumbnail: null });
  expect(onCome).toHaveBeenCalledOnce();
  expect(await buffer(await readBlob(services, { sha256, path: 'it' }))).toEqual(png);
  const pixel = store([Buffer.from(PIXEL, 'base64')], { width: 1, height: 1 });
  expect(await pixel.stored).toMatchObject({ width: 1, height: 1 });
});

test.each([
  ['no picture', pictureFiles.text, {}, 'PNG, JPEG or WebP'],
  [
    'of another type',
    pictureFiles.png,
    { mediaType: 'image/webp' },
    'is image/png of 6 x 4, and is said to be',
  ],
  ['of another size', pictureFiles.png, { width: 8 }, 'is image/png of 6 x 4, and is said to be'],
  ['cut off', pictureFiles.png.subarray(0, -2), {}, 'damaged or incomplete'],
])('one that is %s is refused', async (_what, file, said, message) => {
  await expect(store([file], said).stored).rejects.toThrow(message);
});

test('one that is too large is broken off, and not looked at', async () => {
  const { stored, onCome } = store([pictureFiles.png], {}, 20);
  await expect(stored).rejects.toThrow('larger than 20 MB');
  expect(onCome).not.toHaveBeenCalled();
});
