import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { PICTURE_BYTES_MAX } from '@bakehouse/contract/media';
import { expect, test, vi } from 'vitest';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import { testServer } from '../../../testing/test-server.ts';
import { PIXEL } from '../testing/image-server.ts';
import { pictureFiles } from '../testing/picture-files.ts';
import { videoFile } from '../testing/video-file.ts';
import { storeOutput } from './store-output.ts';

const { services } = await testServer();
const declared = { mediaType: 'image/png', width: 6, height: 4 } as const;

/** Stores an output that arrives in these pieces. `changes` are differences to `declared`. */
function store(pieces: Buffer[], changes: object = {}, bytesMax = PICTURE_BYTES_MAX) {
  const onReceived = vi.fn(async () => undefined);
  const output = { bytes: Readable.from(pieces), declared: { ...declared, ...changes } };
  return {
    onReceived,
    stored: storeOutput(services, output, {
      userId: 'ada',
      medium: { bytesMax, noun: 'picture' },
      onReceived,
    }),
  };
}

test('streams an output into the store and checks its declared type and size', async () => {
  const { png } = pictureFiles;
  const { stored, onReceived } = store([png.subarray(0, 9), png.subarray(9)]);
  const { sha256, ...rest } = await stored;
  expect(rest).toEqual({
    ...{ ...declared, sizeBytes: png.length, thumbnail: null },
    ...{ durationS: null, frames: null, hasAudio: null, strip: null },
  });
  expect(onReceived).toHaveBeenCalledOnce();
  expect(await buffer(await readBlob(services, { sha256, path: 'it' }))).toEqual(png);
  const pixel = store([Buffer.from(PIXEL, 'base64')], { width: 1, height: 1 });
  expect(await pixel.stored).toMatchObject({ width: 1, height: 1 });
});

test.each([
  ['not a picture', pictureFiles.text, {}, 'PNG, JPEG or WebP'],
  [
    'of another type',
    pictureFiles.png,
    { mediaType: 'image/webp' },
    'is image/png of 6 x 4 but was declared as',
  ],
  ['of another size', pictureFiles.png, { width: 8 }, 'is image/png of 6 x 4 but was declared as'],
  ['cut off', pictureFiles.png.subarray(0, -2), {}, 'damaged or incomplete'],
])('rejects an output that is %s', async (_what, file, changes, message) => {
  await expect(store([file], changes).stored).rejects.toThrow(message);
});

test('aborts an output that is too large without inspecting it', async () => {
  const { stored, onReceived } = store([pictureFiles.png], {}, 20);
  await expect(stored).rejects.toThrow('larger than 20 MB');
  expect(onReceived).not.toHaveBeenCalled();
});

/** Stores a video with a poster. */
function storeVideo(video: Buffer, poster: Buffer, bytesMax = 10_000) {
  const beside = [{ role: 'poster' as const, bytes: Readable.from([poster]) }];
  const options = {
    userId: 'ada',
    medium: { bytesMax, noun: 'video' as const },
    onReceived: async () => undefined,
  };
  return storeOutput(services, { bytes: Readable.from([video]), beside }, options);
}

test('stores a video with its properties and a poster for lists', async () => {
  const video = videoFile({ hasAudio: true });
  const { sha256, thumbnail, ...rest } = await storeVideo(video, pictureFiles.webp);
  expect(rest).toEqual({
    ...{ mediaType: 'video/mp4', width: 96, height: 64, durationS: 2.5, frames: 30, hasAudio: true },
    ...{ sizeBytes: video.length, strip: null },
  });
  expect(await buffer(await readBlob(services, { sha256, path: 'it' }))).toEqual(video);
  expect(thumbnail?.sizeBytes).toBe(pictureFiles.webp.length);
});

test.each([
  ['a picture', pictureFiles.png, pictureFiles.webp, 'must be an MP4 file'],
  ['cut off', videoFile().subarray(0, -9), pictureFiles.webp, 'The video is damaged or incomplete'],
  ['without a valid poster', videoFile(), pictureFiles.text, 'PNG, JPEG or WebP'],
])('rejects a video that is %s', async (_what, video, poster, message) => {
  await expect(storeVideo(video, poster)).rejects.toThrow(message);
});

test('aborts a video that is too large', async () => {
  await expect(storeVideo(videoFile(), pictureFiles.webp, 100)).rejects.toThrow('larger than 256 MB');
});
