import type { Database } from '../db/database.ts';
import type { BlobStore } from './blob-store.ts';

/** A single one may have been lost. */
const ASKED = 3;

/**
 * Throws a sentence for the operator if the database references files and the store has none of a sample:
 * then it is another bucket, and all files would seem to be damaged.
 */
export async function requireKnownBucket(db: Database, blobs: Pick<BlobStore, 'stat'>): Promise<void> {
  const named = await db
    .selectFrom('blobs')
    .select('sha256')
    .where('damaged_at', 'is', null)
    .limit(ASKED)
    .execute();
  const found = await Promise.all(named.map(({ sha256 }) => blobs.stat(sha256)));
  if (found.length === 0 || found.some((one) => one !== null)) return;
  throw new Error(
    'The bucket has none of the files that the database names: correct BAKEHOUSE_S3_BUCKET, BAKEHOUSE_S3_PREFIX and BAKEHOUSE_S3_ENDPOINT',
  );
}
