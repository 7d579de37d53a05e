import { expect, test } from 'vitest';
import { PIXEL } from '../testing/image-server.ts';
import { pictureFiles } from '../testing/picture-files.ts';
import { checkPicture } from './check-picture.ts';

const done = {
  type: 'done' as const,
  picture: pictureFiles.png.toString('base64'),
  media_type: 'image/png' as const,
  ...{ width: 6, height: 4, expert_used: null, routing_confidence: null },
};

test('a picture of a model server is what it is said to be', () => {
  expect(checkPicture(done)).toEqual(pictureFiles.png);
  expect(checkPicture({ ...done, picture: PIXEL, width: 1, height: 1 })).toEqual(
    Buffer.from(PIXEL, 'base64'),
  );
});

test.each([
  ['no picture', { picture: pictureFiles.text.toString('base64') }, 'PNG, JPEG or WebP'],
  ['of another type', { media_type: 'image/webp' as const }, 'is image/png of 6 x 4, and is said to be'],
  ['of another size', { width: 8 }, 'is image/png of 6 x 4, and is said to be'],
  ['cut off', { picture: pictureFiles.png.subarray(0, -2).toString('base64') }, 'damaged or incomplete'],
])('one that is %s is refused', (_what, wrong, message) => {
  expect(() => checkPicture({ ...done, ...wrong })).toThrow(
    expect.objectContaining({
      publicMessage: 'The image was corrupted',
      cause: expect.objectContaining({ message: expect.stringContaining(message) }),
    }),
  );
});
