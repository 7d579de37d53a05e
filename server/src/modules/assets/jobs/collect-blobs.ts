import type { Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { deleteBlobRow, touchBlob } from '../../../platform/storage/queries.ts';
import { isForeignKeyError } from '../is-foreign-key-error.ts';
import { listUnusedBlobs } from '../queries.ts';

/** Longer than any request stands between storing bytes and the transaction that refers to them. */
const GRACE_MS = 60 * 60 * 1000;
const BATCH = 500;

/** Deletes bytes that no revision and no workload refers to any more: hourly, and after each deletion of an asset. */
export const collectBlobsJob = defineJob({
  name: 'assets.collect-blobs',
  schedule: '17 * * * *',
  run: async (services: Services, _data: object, signal: AbortSignal) => {
    const before = new Date(services.clock.now().getTime() - GRACE_MS);
    for (;;) {
      const unused = await listUnusedBlobs(services.db, before, BATCH);
      for (const sha256 of unused) {
        if (signal.aborted) return;
        await collectBlob(services, sha256, before);
      }
      if (unused.length < BATCH) return;
    }
  },
});

/** The bytes go while the row is locked, so that whoever wants the blob again waits and sees them gone. */
async function collectBlob(services: Services, sha256: string, untouchedSince: Date): Promise<void> {
  try {
    await inTransaction(services.db, async (tx) => {
      if (await deleteBlobRow(tx, sha256, untouchedSince)) await services.blobs.delete(sha256);
    });
  } catch (error) {
    if (!isForeignKeyError(error)) throw error;
    await touchBlob(services.db, sha256);
  }
}
