import { PICTURE_BYTES_MAX } from '@bakehouse/contract/media';
import type { ImageEvent } from '@bakehouse/contract/runtime/serve-image-spec';
import { AppError } from '../../../platform/errors.ts';
import { inspectPicture } from '../../media/inspect-picture.ts';

type Done = Extract<ImageEvent, { type: 'done' }>;

/** The bytes of a picture that has come. Throws AppError 'unavailable' where it is none, not whole, or not what it is said to be. Pure. */
export function checkPicture(done: Done): Buffer {
  const bytes = Buffer.from(done.picture, 'base64');
  try {
    requireAsDeclared(bytes, done);
  } catch (cause) {
    throw new AppError('unavailable', { publicMessage: 'The image was corrupted', cause });
  }
  return bytes;
}

function requireAsDeclared(bytes: Buffer, { media_type, width, height }: Done): void {
  if (bytes.length > PICTURE_BYTES_MAX) throw new Error(`the picture has ${bytes.length} bytes`);
  const found = inspectPicture(bytes);
  if (found.mediaType !== media_type || found.width !== width || found.height !== height)
    throw new Error(
      `the picture is ${found.mediaType} of ${found.width} x ${found.height}, and is said to be ${media_type} of ${width} x ${height}`,
    );
}
