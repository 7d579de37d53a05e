import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, mkdir, open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError } from '../errors.ts';
import { isProcessAlive } from '../is-process-alive.ts';
import type { Blob, BlobStore, WriteOptions } from './blob-store.ts';

/** Large pieces keep the cost of a write below that of hashing. */
const BUFFER_BYTES = 1024 * 1024;
const STALE_MS = 24 * 60 * 60 * 1000;
/** Stays free for the database and its journal, which may stand on the same disk. */
const FREE_BYTES_MIN = 1024 * 1024 * 1024;
/** Others write too: the disk is looked at again after each so many bytes. */
const CHECK_EVERY_BYTES = 64 * 1024 * 1024;

/**
 * Blobs on the local disk, at `<dir>/ab/cdef…`. Bytes are written to `<dir>/unfinished` first,
 * flushed, and renamed. Unfinished files of processes that are gone are removed when it opens.
 * `findFreeBytes` tells what the disk of a folder has left.
 */
export async function openLocalBlobStore(dir: string, findFreeBytes = readFreeBytes): Promise<BlobStore> {
  const unfinished = path.join(dir, 'unfinished');
  await mkdir(unfinished, { recursive: true, mode: 0o700 });
  await sweep(unfinished);
  const place = (sha256: string) => path.join(dir, sha256.slice(0, 2), sha256.slice(2));

  return {
    write: async (bytes, options = {}) => {
      const temporary = path.join(unfinished, `${process.pid}-${randomBytes(8).toString('hex')}`);
      try {
        const checkRoom = async (wantedBytes: number) => {
          if ((await findFreeBytes(unfinished)) - wantedBytes < FREE_BYTES_MIN) throw noRoom();
        };
        const blob = await receive(bytes, temporary, checkRoom, options);
        const target = place(blob.sha256);
        await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
        await rename(temporary, target);
        await flushFolder(path.dirname(target));
        return blob;
      } catch (error) {
        await rm(temporary, { force: true });
        throw toOwnError(error);
      }
    },
    read: async (sha256, range) => {
      await access(place(sha256));
      return createReadStream(place(sha256), { ...range, highWaterMark: BUFFER_BYTES });
    },
    localPath: async (sha256) => {
      await access(place(sha256));
      return place(sha256);
    },
    delete: (sha256) => rm(place(sha256), { force: true }),
  };
}

async function receive(
  bytes: Readable,
  file: string,
  checkRoom: (wantedBytes: number) => Promise<void>,
  {
    sizeBytesMax = Number.POSITIVE_INFINITY,
    tooLargeMessage = 'The file is too large',
    expectedBytes = 0,
  }: WriteOptions,
): Promise<Blob> {
  await checkRoom(expectedBytes);
  const hash = createHash('sha256');
  let sizeBytes = 0;
  let checkedBytes = 0;
  const handle = await open(file, 'wx', 0o600);
  const counted = async function* () {
    for await (const chunk of namingCuts(bytes)) {
      sizeBytes += chunk.length;
      if (sizeBytes > sizeBytesMax)
        throw new AppError('payload_too_large', { publicMessage: tooLargeMessage });
      if (sizeBytes - checkedBytes >= CHECK_EVERY_BYTES) {
        await checkRoom(0);
        checkedBytes = sizeBytes;
      }
      hash.update(chunk);
      yield chunk;
    }
  };
  // Closes the file, after flushing it to the disk.
  await pipeline(counted, handle.createWriteStream({ highWaterMark: BUFFER_BYTES, flush: true }));
  return { sha256: hash.digest('hex'), sizeBytes };
}

/** Tells a sender who went away from a disk that failed. */
async function* namingCuts(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* source;
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('invalid_request', {
      publicMessage: 'The upload stopped before the file was complete',
      cause: error,
    });
  }
}

/** Makes the rename itself survive a power loss. */
async function flushFolder(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function sweep(unfinished: string): Promise<void> {
  for (const name of await readdir(unfinished)) {
    const file = path.join(unfinished, name);
    const owner = Number(name.split('-')[0]);
    const age = Date.now() - (await stat(file)).mtimeMs;
    // This process has just begun: what carries its number is from an earlier life.
    if (owner === process.pid || !isProcessAlive(owner) || age > STALE_MS) await rm(file, { force: true });
  }
}

function toOwnError(error: unknown): unknown {
  return (error as NodeJS.ErrnoException).code === 'ENOSPC' ? noRoom(error) : error;
}

function noRoom(cause?: unknown): AppError {
  return new AppError('unavailable', {
    publicMessage: 'The server has no disk space left for this file. Its operator can make room.',
    cause,
  });
}

async function readFreeBytes(dir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dir);
  return bavail * bsize;
}
