import type { Services } from '../../../platform/context.ts';
import { isDatabaseAway } from '../../../platform/db/errors/is-database-away.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { listLeftDeletions, resumeDeletion } from '../../../platform/storage/blob-deletions.ts';
import { collectBlob } from '../../../platform/storage/collect-blob.ts';
import { listUnownedBlobs } from '../../../platform/storage/owner-queries.ts';
import { deleteEnded } from '../files/upload/parts/queries.ts';
import { purgeAsset } from '../purge-asset.ts';
import { listDeletedAssets } from '../queries.ts';

/** Bytes wait so long at most for the transaction that refers to them; what takes longer touches them meanwhile. */
const GRACE_MS = 60 * 60 * 1000;
const BATCH = 500;
/** How long it is kept what an upload has made, for those who ask again. */
const UPLOAD_KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/**
 * Deletes what is left of broken uploads and of deleted assets, and bytes that nobody owns any more: hourly, and after each deletion of an asset.
 */
export const collectBlobsJob = defineJob({
  name: 'assets.collect-blobs',
  schedule: '17 * * * *',
  run: async (services: Services, _data: object, signal: AbortSignal) => {
    const attempt = tolerantly(services);
    await attempt(services.blobs.removeUnfinished(), 'what is unfinished could not be removed');
    await purgeDeletedAssets(services, signal);
    await deleteEnded(services.db, new Date(services.clock.now().getTime() - UPLOAD_KEPT_MS));
    for (const sha256 of await listLeftDeletions(services.db, BATCH)) {
      if (signal.aborted) return;
      await attempt(resumeDeletion(services, sha256), 'a blob could not be deleted', sha256);
    }
    const before = new Date(services.clock.now().getTime() - GRACE_MS);
    // One that cannot be deleted keeps none of the others.
    const failed = new Set<string>();
    for (;;) {
      const limit = BATCH + failed.size;
      const unowned = await listUnownedBlobs(services.db, before, limit);
      for (const sha256 of unowned.filter((one) => !failed.has(one))) {
        if (signal.aborted) return;
        const work = collectBlob(services, { sha256, untouchedSince: before });
        if (!(await attempt(work, 'a blob that nobody owns could not be deleted', sha256)))
          failed.add(sha256);
      }
      if (unowned.length < limit) return;
    }
  },
});

/** Answers whether the work was done; one failure keeps nothing of the rest, unless the database is away. */
function tolerantly({ log }: Services) {
  return async (work: Promise<unknown>, failure: string, sha256?: string): Promise<boolean> => {
    try {
      await work;
      return true;
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
      log.error({ err: error, ...(sha256 && { sha256 }) }, failure);
      return false;
    }
  };
}

async function purgeDeletedAssets({ db }: Services, signal: AbortSignal): Promise<void> {
  for (;;) {
    const deleted = await listDeletedAssets(db, BATCH);
    for (const assetId of deleted) {
      while (!signal.aborted && !(await purgeAsset(db, { assetId })));
    }
    if (signal.aborted || deleted.length < BATCH) return;
  }
}
