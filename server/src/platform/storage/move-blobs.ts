import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Database } from '../db/database.ts';
import { type BlobStore, DamagedBlob } from './blob-store.ts';
import { listBlobs, touchBlobs } from './queries.ts';

/** Number of concurrent copies, because a small file mostly waits for responses. */
const AT_ONCE = 8;
const PAGE = 1000;

type Stores = { db: Database; from: BlobStore; to: BlobStore };
export type Moved = { files: number; bytes: number; damaged: string[] };

/** Thrown if a blob was deleted before its copy became visible. */
class BlobDeleted extends Error {}

/**
 * Copies blobs that one store lacks from the folder of another, while servers use both. Deletes nothing, so
 * it may be killed at any time and started again. Each blob is compared with its hash, and damaged ones are
 * skipped.
 */
export async function moveBlobs(
  stores: Stores,
  folder: string,
  onProgress: (done: Moved, of: number) => void,
): Promise<Moved> {
  const names = await listFolder(folder);
  const moved: Moved = { files: 0, bytes: 0, damaged: [] };
  await eachAtOnce(names, async (sha256) => {
    try {
      const bytes = await moveBlob(stores, sha256);
      moved.files += 1;
      moved.bytes += bytes;
    } catch (error) {
      if (!(error instanceof DamagedBlob)) throw error;
      moved.damaged.push(sha256);
    }
    onProgress(moved, names.length);
  });
  return moved;
}

/** Returns the blobs in the database that the store lacks, or has with another size. */
export async function findUnmoved({ db, to }: Pick<Stores, 'db' | 'to'>): Promise<string[]> {
  const unmoved: string[] = [];
  for (let after = ''; ; ) {
    const page = await listBlobs(db, after, PAGE);
    await eachAtOnce(page, async ({ sha256, size_bytes: size }) => {
      if ((await to.stat(sha256))?.sizeBytes !== Number(size)) unmoved.push(sha256);
    });
    const last = page.at(-1);
    if (!last) return unmoved;
    after = last.sha256;
  }
}

/** Copies one blob, and returns the number of copied bytes. */
async function moveBlob({ db, from, to }: Stores, sha256: string): Promise<number> {
  const here = await from.stat(sha256);
  const there = await to.stat(sha256);
  // Skip a blob that was deleted in the meantime or is already there.
  if (!here || there?.sizeBytes === here.sizeBytes) return 0;
  try {
    await to.write(await from.read(sha256), {
      ...{ expectedSha256: sha256, expectedBytes: here.sizeBytes },
      // From now on, the collector ignores the blob for an hour.
      beforeVisible: async () => {
        if (!(await touchBlobs(db, [sha256]))) throw new BlobDeleted();
      },
    });
    return here.sizeBytes;
  } catch (error) {
    if (error instanceof BlobDeleted) return 0;
    // The store reports that its sender failed. If the blob is damaged, the cause says so.
    throw error instanceof Error && error.cause instanceof DamagedBlob ? error.cause : error;
  }
}

async function listFolder(folder: string): Promise<string[]> {
  const names: string[] = [];
  for (const first of (await readdir(folder)).filter((name) => /^[0-9a-f]{2}$/.test(name)))
    for (const rest of await readdir(path.join(folder, first))) names.push(first + rest);
  return names;
}

async function eachAtOnce<T>(all: T[], work: (one: T) => Promise<void>): Promise<void> {
  const left = all.values();
  const workers = Array.from({ length: AT_ONCE }, async () => {
    for (const one of left) await work(one);
  });
  await Promise.all(workers);
}
