import { PICTURE_BYTES_MAX } from '@bakehouse/contract/pictures';
import type { ImageEvent } from '@bakehouse/contract/runtime/serve-image-spec';
import { inspectPicture } from '../pictures/inspect-picture.ts';

type Done = Extract<ImageEvent, { type: 'done' }>;

/** The bytes of a picture that has come. Throws where it is none, not whole, or not what it is said to be. Pure. */
export function checkPicture({ picture, media_type, width, height }: Done): Buffer {
  const bytes = Buffer.from(picture, 'base64');
  if (bytes.length > PICTURE_BYTES_MAX) throw new Error(`the picture has ${bytes.length} bytes`);
  const found = inspectPicture(bytes);
  if (found.mediaType !== media_type || found.width !== width || found.height !== height)
    throw new Error(
      `the picture is ${found.mediaType} of ${found.width} x ${found.height}, and is said to be ${media_type} of ${width} x ${height}`,
    );
  return bytes;
}
