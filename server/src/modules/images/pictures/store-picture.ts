import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { PICTURE_BYTES_MAX, pictureMessages } from '@bakehouse/contract/pictures';
import type { Services } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { BadPicture, inspectPicture } from './inspect-picture.ts';
import type { InputPicture } from './picture-queries.ts';

/**
 * Stores a picture that a person has sent; it is collected unless a row keeps it soon. `param` is the field that it came
 * in. Throws AppError 'payload_too_large', or 'invalid_request' for what is no picture that can be edited.
 */
export async function storePicture(
  services: Pick<Services, 'blobs' | 'db'>,
  bytes: Readable,
  param: string,
): Promise<InputPicture> {
  const blob = await storeBlob(services, bytes, {
    sizeBytesMax: PICTURE_BYTES_MAX,
    tooLargeMessage: pictureMessages.tooLarge,
  }).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'payload_too_large') throw error;
    throw new AppError('payload_too_large', { publicMessage: error.publicMessage, param, cause: error });
  });
  return describePicture(services, blob, param);
}

/** What a stored file is as a picture. Throws AppError 'invalid_request' where it is none that can be edited. */
export async function describePicture(
  { blobs }: Pick<Services, 'blobs'>,
  { sha256, sizeBytes }: { sha256: string; sizeBytes: number },
  param: string,
): Promise<InputPicture> {
  if (sizeBytes > PICTURE_BYTES_MAX)
    throw new AppError('payload_too_large', { publicMessage: pictureMessages.tooLarge, param });
  const bytes = await blobs.withLocalFile(sha256, (localPath) => readFile(localPath));
  try {
    return { ...inspectPicture(bytes), sha256, sizeBytes };
  } catch (error) {
    if (!(error instanceof BadPicture)) throw error;
    throw new AppError('invalid_request', { publicMessage: error.message, param, cause: error });
  }
}
