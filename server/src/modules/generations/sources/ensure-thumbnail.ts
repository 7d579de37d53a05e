import { sql } from 'kysely';
import type { Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { lockBlobs } from '../../../platform/storage/queries.ts';
import { makeThumbnail, type Picture, type Thumbnail } from '../../media/thumbnails/make-thumbnail.ts';
import { toThumbnailColumns } from '../../media/thumbnails/thumbnail-columns.ts';

/** Maximum delay of a picture for its thumbnail. */
const WAIT_MS = 10_000;

/**
 * Makes a thumbnail that could not be made in time. Retried, also because the picture's row may not exist
 * yet.
 */
export const makeThumbnailJob = defineJob({
  name: 'generations.make-thumbnail',
  run: async (services, { userId, ...picture }: Picture & { userId: string }, signal) => {
    const thumbnail = await makeThumbnail(services, picture, { userId, signal });
    if (!thumbnail) return;
    if ((await saveThumbnail(services, { userId, sha256: picture.sha256 }, thumbnail)) === 0)
      throw new Error('No picture with these bytes lacks a thumbnail');
  },
});

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
    await lockBlobs(tx, [thumbnail.sha256]);
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
    // The triggers of both tables count owners only on inserts and deletes.
    const each = <T>(value: T) => Array.from({ length: count }, () => value);
    const owners = sql`${each(thumbnail.sha256)}::text[], ${each('user')}::text[], ${each(userId)}::text[]`;
    if (count > 0)
      await sql`select add_blob_owners(${owners}, ${each(thumbnail.sizeBytes)}::bigint[])`.execute(tx);
    return count;
  });
}
