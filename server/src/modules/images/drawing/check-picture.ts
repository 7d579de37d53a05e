import type { ImageEvent } from '@bakehouse/contract/runtime/serve-image-spec';
import { AppError } from '../../../platform/errors.ts';

type Done = Extract<ImageEvent, { type: 'done' }>;

const BYTES_MAX = 20 * 1024 * 1024;

/** How a file of each type begins. */
const begins: Record<Done['media_type'], (bytes: Buffer) => boolean> = {
  'image/png': (bytes) => bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex')),
  'image/jpeg': (bytes) => bytes.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex')),
  'image/webp': (bytes) =>
    bytes.subarray(0, 4).toString('latin1') === 'RIFF' && bytes.subarray(8, 12).toString('latin1') === 'WEBP',
};

/** The bytes of a picture that has come. Throws AppError 'unavailable' where it is none, or not what it says. Pure. */
export function checkPicture({ picture, media_type: mediaType, width, height }: Done): Buffer {
  const bytes = Buffer.from(picture, 'base64');
  if (!begins[mediaType](bytes)) throw corrupted(`the picture is no ${mediaType}`);
  if (bytes.length > BYTES_MAX) throw corrupted(`the picture has ${bytes.length} bytes`);
  if (width < 1 || height < 1) throw corrupted(`the picture is said to be ${width} x ${height}`);
  return bytes;
}

function corrupted(what: string): AppError {
  return new AppError('unavailable', { publicMessage: 'The image was corrupted', cause: new Error(what) });
}
