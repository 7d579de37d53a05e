import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { link, mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sequentialByKey } from '../../concurrency/one-at-a-time.ts';
import { isMissing, toStoreError } from '../local-part-store.ts';

/** Files that were not used for this long were left by a killed process. */
const STALE_MS = 6 * 60 * 60 * 1000;

/**
 * Stores local copies of blobs in a folder that several processes may share. The folder has at most
 * `bytesMax`; the least recently used copies are evicted. Each user of a copy gets its own hard link, so that
 * evicting the copy does no harm. `download` opens the verified bytes of a blob.
 */
export async function openLocalCopies(
  dir: string,
  { bytesMax, download }: { bytesMax: number; download: (sha256: string) => Promise<Readable> },
) {
  const lentDir = path.join(dir, 'lent');
  await mkdir(lentDir, { recursive: true, mode: 0o700 });
  await sweep(lentDir);
  const runInOrder = sequentialByKey();

  const bring = async (sha256: string, lent: string) => {
    const copy = path.join(dir, sha256);
    if (await linked(copy, lent)) {
      const now = new Date();
      // Ignore errors, because another process may have evicted the copy.
      await utimes(copy, now, now).catch(() => undefined);
      return;
    }
    await pipeline(
      await download(sha256),
      createWriteStream(lent, { flags: 'wx', mode: 0o444, flush: true }),
    ).catch(async (error: unknown) => {
      await rm(lent, { force: true });
      throw toStoreError(error);
    });
    const second = `${lent}.copy`;
    await link(lent, second);
    await rename(second, copy);
  };

  return {
    /** Provides a local copy while `work` runs. Throws AppError('unavailable') if the disk is full. */
    lend: async <T>(sha256: string, work: (localPath: string) => Promise<T>): Promise<T> => {
      const lent = path.join(lentDir, randomBytes(16).toString('hex'));
      // One call at a time per blob, so that concurrent callers share one download.
      await runInOrder(sha256, () => bring(sha256, lent));
      try {
        return await work(lent);
      } finally {
        await rm(lent, { force: true });
        await prune(dir, bytesMax);
      }
    },
    /** Evicts the copy. Current users still have their own link. */
    forget: (sha256: string) => rm(path.join(dir, sha256), { force: true }),
    removeStale: () => sweep(lentDir),
  };
}

/** Returns false if the file does not exist. */
async function linked(file: string, second: string): Promise<boolean> {
  try {
    await link(file, second);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

async function prune(dir: string, bytesMax: number): Promise<void> {
  const copies = (await found(dir)).filter(({ isFile }) => isFile).toSorted((a, b) => b.usedMs - a.usedMs);
  let kept = 0;
  for (const { file, sizeBytes } of copies) {
    kept += sizeBytes;
    if (kept > bytesMax) await rm(file, { force: true });
  }
}

async function sweep(dir: string): Promise<void> {
  for (const { file, usedMs } of await found(dir))
    if (Date.now() - usedMs > STALE_MS) await rm(file, { force: true });
}

async function found(dir: string) {
  const files = (await readdir(dir)).map((name) => path.join(dir, name));
  const seen = await Promise.all(
    files.map((file) =>
      stat(file).then(
        (one) => [{ file, isFile: one.isFile(), sizeBytes: one.size, usedMs: one.mtimeMs }],
        // Ignore the error: another process has deleted the file.
        () => [],
      ),
    ),
  );
  return seen.flat();
}
