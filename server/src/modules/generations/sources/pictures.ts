import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { PICTURE_BYTES_MAX, pictureMessages } from '@bakehouse/contract/media';
import { sql } from 'kysely';
import type { Context, Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { invalidParam, payloadTooLarge } from '../../../platform/errors.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { lockBlobRows } from '../../../platform/storage/queries.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { assertBlobFitsQuota } from '../../assets/files/storage-quota.ts';
import { BadPicture, type InspectedPicture, inspectPicture } from '../../media/inspect-picture.ts';
import { withPicture } from '../../media/receive-picture.ts';
import {
  makeThumbnail,
  type Picture,
  type Thumbnail,
  toThumbnailColumns,
} from '../../media/thumbnails/thumbnails.ts';
import type { InputPicture } from './picture-queries.ts';

/** How long storing a picture waits for its thumbnail. */
const WAIT_MS = 10_000;

/**
 * Makes a thumbnail that could not be made in time. Fails if no row has the picture yet, and is then retried.
 */
export const makeThumbnailJob = defineJob({
  name: 'generations.make-thumbnail',
  run: async (services, { userId, ...picture }: Picture & { userId: string }, signal) => {
    const thumbnail = await makeThumbnail(services, picture, { userId, signal });
    if (!thumbnail) return;
    if ((await saveThumbnail(services, { userId, sha256: picture.sha256 }, thumbnail)) === 0)
      throw new Error('No row needs a thumbnail of this picture');
  },
});

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
  await inTransaction(ctx.db, (tx) => assertBlobFitsQuota(tx, ctx.config, { userId, blob, param }));
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
  if (sizeBytes > PICTURE_BYTES_MAX) throw payloadTooLarge(pictureMessages.tooLarge, { param });
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
  return invalidParam(param, error.message, error);
}

/**
 * Makes the thumbnail of a stored picture. If the machine is busy, returns null and lets a job make it later.
 */
export async function ensureThumbnail(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'jobs' | 'log' | 'sandbox'>,
  { sha256, width, height }: Picture,
  userId: string,
): Promise<Thumbnail | null> {
  const picture = { sha256, width, height };
  try {
    return await makeThumbnail(services, picture, { userId, signal: AbortSignal.timeout(WAIT_MS) });
  } catch (error) {
    services.log.warn({ err: error, sha256 }, 'deferred thumbnail to a job');
    await inTransaction(services.db, (tx) =>
      services.jobs.enqueue(tx, makeThumbnailJob, { ...picture, userId }),
    );
    return null;
  }
}

async function saveThumbnail(
  { db }: Pick<Services, 'db'>,
  { userId, sha256 }: { userId: string; sha256: string },
  thumbnail: Thumbnail,
): Promise<number> {
  return inTransaction(db, async (tx) => {
    await lockBlobRows(tx, [thumbnail.sha256]);
    let count = 0;
    for (const table of ['generation_outputs', 'input_pictures'] as const) {
      const { numUpdatedRows } = await tx
        .updateTable(table)
        .set(toThumbnailColumns(thumbnail))
        .where('sha256', '=', sha256)
        .where('user_id', '=', userId)
        .where('thumbnail_sha256', 'is', null)
        .executeTakeFirstOrThrow();
      count += Number(numUpdatedRows);
    }
    // Count the new owners here: the triggers of both tables do so only on inserts and deletes.
    const each = <T>(value: T) => Array.from({ length: count }, () => value);
    const owners = sql`${each(thumbnail.sha256)}::text[], ${each('user')}::text[], ${each(userId)}::text[]`;
    if (count > 0)
      await sql`select add_blob_owners(${owners}, ${each(thumbnail.sizeBytes)}::bigint[])`.execute(tx);
    return count;
  });
}
