import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config.ts';
import type { Database } from '../db/database.ts';
import type { BlobStore } from './blob-store.ts';
import { openLocalBlobStore } from './local-blob-store.ts';

/** Name of the file in the data folder that contains the address of the bucket. */
export const FILES_LIE_IN = 'files-lie-in';

/** Number of blobs to look for. More than one, because a single blob may be lost. */
const ASKED = 3;

type Settings = Pick<Config, 'cacheDir' | 'dataDir' | 's3'>;

/** Returns the folder of the local store. */
export function blobsDir({ dataDir }: Pick<Config, 'dataDir'>): string {
  return path.join(dataDir, 'blobs');
}

/** Returns the folder of local copies of a bucket's blobs. */
export function blobCopiesDir({ cacheDir }: Pick<Config, 'cacheDir'>): string {
  return path.join(cacheDir, 'blobs');
}

/**
 * Opens the configured store. With a bucket, files that are still in the folder are read from there until
 * they have been moved and the folder is deleted. Throws a sentence for the operator if the bucket is
 * unusable. Also throws if the files of this data folder are stored elsewhere than configured; otherwise all
 * files would seem to be damaged.
 */
export async function openBlobStore(settings: Settings): Promise<BlobStore> {
  const folder = blobsDir(settings);
  const { s3 } = settings;
  await assertSameBucket(settings);
  if (!s3) return openLocalBlobStore(folder);
  const store = await openS3(settings, s3);
  await recordBucket(settings);
  return (await hasBlobs(folder)) ? openMovingBlobStore(store, await openLocalBlobStore(folder)) : store;
}

/** Opens the store in the bucket alone. Imports the S3 library only when it is needed. */
export async function openS3(
  { cacheDir }: Pick<Config, 'cacheDir'>,
  s3: NonNullable<Config['s3']>,
): Promise<BlobStore> {
  const [{ openBucket }, { requireBucket }, { openS3BlobStore }] = await Promise.all([
    import('./s3/bucket.ts'),
    import('./s3/require-bucket.ts'),
    import('./s3/s3-blob-store.ts'),
  ]);
  const bucket = openBucket(s3);
  await requireBucket(bucket);
  const copies = { dir: blobCopiesDir({ cacheDir }), bytesMax: s3.cacheGb * 1024 ** 3 };
  return openS3BlobStore(bucket, { copies, links: s3.links });
}

/** Returns true if the folder of a local store contains blobs. */
export async function hasBlobs(folder: string): Promise<boolean> {
  for (const name of await readdir(folder).catch(() => []))
    if (name.length === 2 && (await readdir(path.join(folder, name))).length > 0) return true;
  return false;
}

/** Records the address of the bucket in the data folder. */
async function recordBucket({ dataDir, s3 }: Settings): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  await writeFile(bucketFileOf(dataDir), `${placeOf(s3)}\n`, { mode: 0o600 });
}

/** Returns true if a server has already stored files in the configured bucket. */
export async function isBucketInUse({ dataDir, s3 }: Pick<Config, 'dataDir' | 's3'>): Promise<boolean> {
  return s3 !== null && (await readRecordedBucket(dataDir)) === placeOf(s3);
}

async function assertSameBucket({ dataDir, s3 }: Settings): Promise<void> {
  const noted = await readRecordedBucket(dataDir);
  if (noted === '' || noted === placeOf(s3)) return;
  const now = s3 ? `the settings name ${placeOf(s3)}` : 'the settings name no bucket';
  throw new Error(
    `The files of this installation are in ${noted}, but ${now}: correct BAKEHOUSE_S3_BUCKET and BAKEHOUSE_S3_PREFIX, or delete ${bucketFileOf(dataDir)} after you have moved all files to the place in the settings.`,
  );
}

/** Returns the recorded address, or '' if no bucket was ever used. */
async function readRecordedBucket(dataDir: string): Promise<string> {
  return (await readFile(bucketFileOf(dataDir), 'utf8').catch(() => '')).trim();
}

function bucketFileOf(dataDir: string): string {
  return path.join(dataDir, FILES_LIE_IN);
}

function placeOf(s3: Config['s3']): string {
  return s3 ? `s3://${s3.bucket}/${s3.prefix}` : '';
}

/**
 * Returns a store to use while files are moved. It writes to the new store, and reads files that the new
 * store lacks from the old one. Blobs are deleted from both.
 */
function openMovingBlobStore(to: BlobStore, from: BlobStore): BlobStore {
  /** Returns the store that has the blob, or the new one if neither has it. */
  const holderOf = async (sha256: string) =>
    (await to.stat(sha256)) === null && (await from.stat(sha256)) !== null ? from : to;
  return {
    ...to,
    read: async (sha256, range) => {
      try {
        return await to.read(sha256, range);
      } catch (error) {
        if ((await from.stat(sha256)) === null) throw error;
        return from.read(sha256, range);
      }
    },
    stat: async (sha256) => (await to.stat(sha256)) ?? (await from.stat(sha256)),
    withLocalFile: async (sha256, work) => (await holderOf(sha256)).withLocalFile(sha256, work),
    presign: async (sha256, answer) => (await holderOf(sha256)).presign(sha256, answer),
    delete: async (sha256, signal) => {
      await from.delete(sha256, signal);
      await to.delete(sha256, signal);
    },
    removeUnfinished: async () => {
      await from.removeUnfinished();
      await to.removeUnfinished();
    },
  };
}

/**
 * Throws a sentence for the operator if the store has none of several blobs that the database references.
 * Then it is probably another bucket, and all files would seem to be damaged.
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
    'The bucket contains no file that the database references: correct BAKEHOUSE_S3_BUCKET, BAKEHOUSE_S3_PREFIX and BAKEHOUSE_S3_ENDPOINT',
  );
}
