import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { link, mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { conflict, payloadTooLarge } from '../errors.ts';
import { type Blob, type BlobStore, DamagedBlob, HashMismatch, type WriteOptions } from './blob-store.ts';
import {
  BUFFER_BYTES,
  flushFolder,
  isMissing,
  localPartStore,
  noRoom,
  sizeOf,
  toStoreError,
  yieldBytes,
} from './local-part-store.ts';
import { verified } from './read-blob.ts';

/** A file without writes for this long is abandoned, because a stalled upload is aborted earlier. */
const STALE_MS = 6 * 60 * 60 * 1000;
/** Space that is reserved for the database and its journal, which may be on the same disk. */
const FREE_BYTES_MIN = 1024 * 1024 * 1024;
/** The free space is checked again after this many bytes, because other programs write too. */
const CHECK_EVERY_BYTES = 64 * 1024 * 1024;

/**
 * Stores blobs on the local disk, at `<dir>/ab/cdef…`. Bytes are first written to `<dir>/unfinished`,
 * flushed, and then renamed. Several servers may share the folder. Opening the store deletes files in
 * `unfinished` that were not written to for long. `findFreeBytes` returns the free space of a folder's disk.
 */
export async function openLocalBlobStore(dir: string, findFreeBytes = readFreeBytes): Promise<BlobStore> {
  const unfinished = path.join(dir, 'unfinished');
  await mkdir(unfinished, { recursive: true, mode: 0o700 });
  await sweep(unfinished);
  const place = (sha256: string) => path.join(dir, sha256.slice(0, 2), sha256.slice(2));
  // If the whole store is empty, its disk is probably not mounted, so do not report a missing blob.
  const missing = async (sha256: string) =>
    (await readdir(dir)).some((name) => name.length === 2)
      ? new DamagedBlob(sha256, 'missing')
      : new Error(`The folder of stored files is empty: is its disk mounted? (${dir})`);

  const checkFreeSpace = async (wantedBytes: number) => {
    if ((await findFreeBytes(unfinished)) - wantedBytes < FREE_BYTES_MIN) throw noRoom();
  };

  /** Moves the file that `make` creates to its final place. If anything fails, no file is left. */
  const storeBlob = async <B extends Blob>(
    make: (temporary: string) => Promise<B>,
    beforeVisible?: (blob: Blob) => Promise<void>,
  ): Promise<B> => {
    const temporary = path.join(unfinished, randomBytes(16).toString('hex'));
    try {
      const blob = await make(temporary);
      const target = place(blob.sha256);
      await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
      await beforeVisible?.(blob);
      await rename(temporary, target);
      await flushFolder(path.dirname(target));
      return blob;
    } catch (error) {
      throw toStoreError(error);
    } finally {
      // If both names already were links to the same file, `rename` did nothing and this one still exists.
      await rm(temporary, { force: true });
    }
  };

  return {
    write: (bytes, options = {}) =>
      storeBlob((temporary) => receive(bytes, temporary, checkFreeSpace, options), options.beforeVisible),
    adopt: (localPath, beforeVisible) =>
      storeBlob((temporary) => adopt(localPath, temporary, checkFreeSpace), beforeVisible),
    stat: async (sha256) => {
      const size = await sizeOf(place(sha256));
      return size === null ? null : { sizeBytes: size };
    },
    read: async (sha256, range) => {
      const size = await sizeOf(place(sha256));
      if (size === null) throw await missing(sha256);
      const bytes = readable(
        createReadStream(place(sha256), { ...range, highWaterMark: BUFFER_BYTES }),
        sha256,
      );
      const isWhole = !range || (range.start === 0 && range.end >= size - 1);
      return Readable.from(isWhole ? verified(bytes, sha256) : bytes, { objectMode: false });
    },
    withLocalFile: async (sha256, work) => {
      if ((await sizeOf(place(sha256))) === null) throw await missing(sha256);
      return work(place(sha256));
    },
    presign: async () => null,
    linkOrigin: null,
    delete: (sha256) => rm(place(sha256), { force: true }),
    freeBytes: () => findFreeBytes(unfinished),
    removeUnfinished: () => sweep(unfinished),
    parts: await localPartStore(path.join(dir, 'parts'), { place, checkFreeSpace }),
  };
}

async function receive(
  bytes: Readable,
  file: string,
  checkFreeSpace: (wantedBytes: number) => Promise<void>,
  {
    sizeBytesMax = Number.POSITIVE_INFINITY,
    tooLargeMessage = 'The file is too large',
    expectedBytes = 0,
    expectedSha256,
  }: WriteOptions,
): Promise<Blob> {
  await checkFreeSpace(expectedBytes);
  const hash = createHash('sha256');
  let sizeBytes = 0;
  let checkedBytes = 0;
  const handle = await open(file, 'wx', 0o600);
  const counted = async function* () {
    for await (const chunk of yieldBytes(bytes)) {
      sizeBytes += chunk.length;
      if (sizeBytes > sizeBytesMax) throw payloadTooLarge(tooLargeMessage);
      if (sizeBytes - checkedBytes >= CHECK_EVERY_BYTES) {
        await checkFreeSpace(0);
        checkedBytes = sizeBytes;
      }
      hash.update(chunk);
      yield chunk;
    }
  };
  // The stream flushes the file to the disk and closes it.
  await pipeline(counted, handle.createWriteStream({ highWaterMark: BUFFER_BYTES, flush: true }));
  const sha256 = hash.digest('hex');
  if (sha256 !== (expectedSha256 ?? sha256)) throw new HashMismatch(sha256);
  return { sha256, sizeBytes };
}

async function sweep(unfinished: string): Promise<void> {
  for (const name of await readdir(unfinished)) {
    const file = path.join(unfinished, name);
    const found = await stat(file).catch((error: unknown) => {
      // Another server has finished or deleted the file.
      if (isMissing(error)) return null;
      throw error;
    });
    if (found && Date.now() - found.mtimeMs > STALE_MS) await rm(file, { force: true });
  }
}

/** Makes `file` a hard link to `from`, or a copy if the disk does not support links. */
async function adopt(
  localPath: string,
  file: string,
  checkFreeSpace: (wantedBytes: number) => Promise<void>,
): Promise<Blob & { isLinked: boolean }> {
  const isLinked = await link(localPath, file).then(
    () => true,
    () => false,
  );
  if (!isLinked) {
    const { size: expectedBytes } = await stat(localPath);
    const bytes = createReadStream(localPath, { highWaterMark: BUFFER_BYTES });
    return { ...(await receive(bytes, file, checkFreeSpace, { expectedBytes })), isLinked };
  }
  const handle = await open(file, 'r');
  try {
    const before = await handle.stat();
    const hash = createHash('sha256');
    const bytes = handle.createReadStream({ highWaterMark: BUFFER_BYTES, autoClose: false });
    await pipeline(bytes, hash);
    const after = await handle.stat();
    if (after.size !== before.size || after.mtimeMs !== before.mtimeMs)
      throw conflict(`${localPath} was changed while it was read`);
    await handle.datasync();
    return { sha256: hash.digest('hex'), sizeBytes: after.size, isLinked };
  } finally {
    await handle.close();
  }
}

/** Yields the bytes. If the disk cannot read them, throws DamagedBlob instead of the system's error. */
async function* readable(bytes: AsyncIterable<Buffer>, sha256: string): AsyncGenerator<Buffer> {
  try {
    yield* bytes;
  } catch (error) {
    throw isRotten(error) ? new DamagedBlob(sha256, 'unreadable', error) : error;
  }
}

/**
 * True for a bad sector or a damaged file system. Other errors, such as missing permissions, do not mean that
 * the bytes are damaged.
 */
function isRotten(error: unknown): boolean {
  return ['EIO', 'EUCLEAN', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
}

async function readFreeBytes(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dir);
  return bavail * bsize;
}
