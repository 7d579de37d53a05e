import { Gauge, type Registry } from 'prom-client';
import type { Database } from '../db/database.ts';
import type { BlobStore } from './blob-store.ts';
import { readBlobHealth } from './queries.ts';

/** Adds the health of the stored bytes to the metrics of this process. It is read on demand. */
export function measureBlobs(
  registry: Registry,
  { db, blobs }: { db: Database; blobs: Pick<BlobStore, 'freeBytes'> },
): void {
  new Gauge({
    name: 'bakehouse_blob_check_age_seconds_max',
    help: 'How long ago the stored file was last verified that was not for the longest time',
    registers: [registry],
    async collect() {
      const { oldestCheck } = await readBlobHealth(db);
      this.set(oldestCheck ? (Date.now() - oldestCheck.getTime()) / 1000 : 0);
    },
  });
  new Gauge({
    name: 'bakehouse_blobs_free_bytes',
    help: 'Room that is left for stored files',
    registers: [registry],
    async collect() {
      this.set((await blobs.freeBytes()) ?? Number.POSITIVE_INFINITY);
    },
  });
  new Gauge({
    name: 'bakehouse_blobs_damaged',
    help: 'Stored files whose bytes are missing or no longer match their hash',
    registers: [registry],
    async collect() {
      this.set((await readBlobHealth(db)).damaged);
    },
  });
}
