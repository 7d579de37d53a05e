import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config.ts';
import type { BlobStore } from './blob-store.ts';
import { openLocalBlobStore } from './local-blob-store.ts';
import { openMovingBlobStore } from './moving-blob-store.ts';

/** The file of the data folder that says in which bucket its files lie. */
export const FILES_LIE_IN = 'files-lie-in';

type Settings = Pick<Config, 'cacheDir' | 'dataDir' | 's3'>;

/** The folder of the local store. */
export function blobsDir({ dataDir }: Pick<Config, 'dataDir'>): string {
  return path.join(dataDir, 'blobs');
}

/** Copies of blobs of a bucket, on this machine. */
export function blobCopiesDir({ cacheDir }: Pick<Config, 'cacheDir'>): string {
  return path.join(cacheDir, 'blobs');
}

/**
 * Opens the store that the settings name. With a bucket, the files that still lie in the folder are read from there, until
 * they are moved and it is gone. Throws a sentence for the operator where the bucket cannot be used, and where the files
 * of this data folder lie elsewhere than the settings say: all of them would seem to be damaged.
 */
export async function openBlobStore(settings: Settings): Promise<BlobStore> {
  const folder = blobsDir(settings);
  const { s3 } = settings;
  await refuseElsewhere(settings);
  if (!s3) return openLocalBlobStore(folder);
  const store = await openS3(settings, s3);
  await noteWhere(settings);
  return (await hasBlobs(folder)) ? openMovingBlobStore(store, await openLocalBlobStore(folder)) : store;
}

/** The store in the bucket alone. Its library is loaded when it is used. */
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

/** Whether any lie in the folder of a local store. */
export async function hasBlobs(folder: string): Promise<boolean> {
  for (const name of await readdir(folder).catch(() => []))
    if (name.length === 2 && (await readdir(path.join(folder, name))).length > 0) return true;
  return false;
}

/** Says in the data folder where its files lie, once they are in a bucket. */
async function noteWhere({ dataDir, s3 }: Settings): Promise<void> {
  await mkdir(dataDir, { recursive: true });
  await writeFile(noteOf(dataDir), `${placeOf(s3)}\n`, { mode: 0o600 });
}

/** Whether a server has already stored files in the bucket of the settings. */
export async function isBucketInUse({ dataDir, s3 }: Pick<Config, 'dataDir' | 's3'>): Promise<boolean> {
  return s3 !== null && (await readNote(dataDir)) === placeOf(s3);
}

async function refuseElsewhere({ dataDir, s3 }: Settings): Promise<void> {
  const noted = await readNote(dataDir);
  if (noted === '' || noted === placeOf(s3)) return;
  const now = s3 ? `the settings name ${placeOf(s3)}` : 'the settings name no bucket';
  throw new Error(
    `The files of this installation lie in ${noted}, and ${now}: correct BAKEHOUSE_S3_BUCKET and BAKEHOUSE_S3_PREFIX, or delete ${noteOf(dataDir)} once all files are where the settings say.`,
  );
}

/** Empty where no bucket was ever used. */
async function readNote(dataDir: string): Promise<string> {
  return (await readFile(noteOf(dataDir), 'utf8').catch(() => '')).trim();
}

function noteOf(dataDir: string): string {
  return path.join(dataDir, FILES_LIE_IN);
}

function placeOf(s3: Config['s3']): string {
  return s3 ? `s3://${s3.bucket}/${s3.prefix}` : '';
}
