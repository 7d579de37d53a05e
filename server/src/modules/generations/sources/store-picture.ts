import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { PICTURE_BYTES_MAX, pictureMessages } from '@bakehouse/contract/media';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { keepWithinQuota } from '../../assets/files/keep-within-quota.ts';
import { BadPicture, type InspectedPicture, inspectPicture } from '../../media/inspect-picture.ts';
import { withPicture } from '../../media/with-picture.ts';
import { ensureThumbnail } from './ensure-thumbnail.ts';
import type { InputPicture } from './picture-queries.ts';

/**
 * Stores a picture sent by the caller; garbage-collected unless a row references it soon. Invalid pictures
 * and pictures beyond the quota never reach the disk. `param` is the request field. Throws AppError
 * 'payload_too_large', or 'invalid_request' for a picture that cannot be edited.
 */
export async function storePicture(
  ctx: Pick<Context, 'blobs' | 'clock' | 'db' | 'jobs' | 'log' | 'sandbox' | 'caller' | 'config'>,
  bytes: Buffer,
  param: string,
): Promise<InputPicture> {
  const described = describe(bytes, param);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const blob = { sha256, sizeBytes: bytes.length };
  const { userId } = ctx.caller;
  await inTransaction(ctx.db, (tx) => keepWithinQuota(tx, ctx.config, { userId, blob, param }));
  await storeBlob(ctx, Readable.from([bytes]), { expectedBytes: bytes.length });
  const thumbnail = await ensureThumbnail(ctx, { sha256, ...described }, userId);
  return { ...described, ...blob, thumbnail };
}

/**
 * Returns type and size of a stored picture. Throws AppError 'invalid_request' if it cannot be edited, and
 * the errors of `withBlobFile`.
 */
export async function describePicture(
  ctx: Pick<Context, 'blobs' | 'clock' | 'db' | 'jobs' | 'log' | 'sandbox' | 'caller'>,
  { sizeBytes, ...file }: { sha256: string; path: string; sizeBytes: number },
  param: string,
): Promise<InputPicture> {
  if (sizeBytes > PICTURE_BYTES_MAX)
    throw new AppError('payload_too_large', { publicMessage: pictureMessages.tooLarge, param });
  const { sha256 } = file;
  const described = await withPicture(ctx, file, ({ mediaType, width, height }) => ({
    mediaType,
    width,
    height,
  })).catch((error: unknown) => {
    throw named(error, param);
  });
  const thumbnail = await ensureThumbnail(ctx, { sha256, ...described }, ctx.caller.userId);
  return { ...described, sha256, sizeBytes, thumbnail };
}

function describe(bytes: Buffer, param: string): InspectedPicture {
  try {
    return inspectPicture(bytes);
  } catch (error) {
    throw named(error, param);
  }
}

/** Converts the reason why a picture cannot be edited to an error for the request field. */
function named(error: unknown, param: string): unknown {
  if (!(error instanceof BadPicture)) return error;
  return new AppError('invalid_request', { publicMessage: error.message, param, cause: error });
}
