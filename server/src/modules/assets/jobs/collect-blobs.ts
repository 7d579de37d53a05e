import type { Services } from '../../../platform/context.ts';
import { isDatabaseAway } from '../../../platform/db/errors/database-errors.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { listLeftDeletions, resumeDeletion } from '../../../platform/storage/blob-deletions.ts';
import { listUnownedBlobs } from '../../../platform/storage/owner-queries.ts';
import { collectBlob } from '../../../platform/storage/store-blob.ts';
import { deleteEnded } from '../files/upload/parts/queries.ts';
import { purgeAsset } from '../purge-asset.ts';
import { listDeletedAssets } from '../queries.ts';

/**
 * Blobs without a reference are deleted after this time. Work that takes longer must touch its blobs in
 * between.
 */
const GRACE_MS = 60 * 60 * 1000;
const BATCH = 500;
/** How long completed uploads are kept to answer repeated calls. */
const UPLOAD_KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** Deletes remains of broken uploads and deleted assets, and unreferenced bytes. */
export const collectBlobsJob = defineJob({
  name: 'assets.collect-blobs',
  schedule: '17 * * * *',
  run: async (services: Services, _data: object, signal: AbortSignal) => {
    const attempt = tolerantly(services);
    await attempt(services.blobs.removeUnfinished(), 'failed to remove unfinished blobs');
    await purgeDeletedAssets(services, signal);
    await deleteEnded(services.db, new Date(services.clock.now().getTime() - UPLOAD_KEPT_MS));
    for (const sha256 of await listLeftDeletions(services.db, BATCH)) {
      if (signal.aborted) return;
      await attempt(resumeDeletion(services, sha256), 'failed to delete blob', sha256);
    }
    const before = new Date(services.clock.now().getTime() - GRACE_MS);
    // A blob that cannot be deleted must not block the others.
    const failed = new Set<string>();
    for (;;) {
      const limit = BATCH + failed.size;
      const unowned = await listUnownedBlobs(services.db, before, limit);
      for (const sha256 of unowned.filter((one) => !failed.has(one))) {
        if (signal.aborted) return;
        const work = collectBlob(services, { sha256, untouchedSince: before });
        if (!(await attempt(work, 'failed to delete unreferenced blob', sha256))) failed.add(sha256);
      }
      if (unowned.length < limit) return;
    }
  },
});

/**
 * Returns a function that runs work and returns whether it succeeded. Logs failures, so that the rest
 * continues, unless the database is unavailable.
 */
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
