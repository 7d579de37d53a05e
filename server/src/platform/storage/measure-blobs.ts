import { Gauge, type Registry } from 'prom-client';
import type { Database } from '../db/database.ts';
import { readBlobHealth } from './queries.ts';

/** Adds the health of the stored bytes to the metrics of this process. Read from the database when it is asked for. */
export function measureBlobs(registry: Registry, db: Database): void {
  const checked = new Gauge({
    name: 'bakehouse_blob_check_age_seconds_max',
    help: 'How long ago the stored file was last verified that was not for the longest time',
    registers: [registry],
  });
  new Gauge({
    name: 'bakehouse_blobs_damaged',
    help: 'Stored files whose bytes are missing or no longer match their hash',
    registers: [registry],
    async collect() {
      const { damaged, oldestCheck } = await readBlobHealth(db);
      this.set(damaged);
      checked.set(oldestCheck ? (Date.now() - oldestCheck.getTime()) / 1000 : 0);
    },
  });
}
