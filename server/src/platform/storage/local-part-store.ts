import { createHash, randomBytes } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { AppError, invalidRequest, unavailable } from '../errors.ts';
import { type Blob, DamagedParts, type PartStore } from './blob-store.ts';
import { wrongSize } from './read-blob.ts';

/** Large, so that writing takes less time than hashing. */
export const BUFFER_BYTES = 1024 * 1024;

const { O_CREAT, O_RDWR } = constants;

/** Suffix of a file that is being completed. */
const WHOLE = '.whole';

type Disk = {
  /** Returns the path of a blob. */
  place: (sha256: string) => string;
  /** Throws AppError('unavailable') if writing this many bytes would leave too little space. */
  checkFreeSpace: (wantedBytes: number) => Promise<void>;
};

/**
 * Stores unfinished blobs in the folder `dir`, which must be on the same disk as finished blobs. Each blob is
 * one file, and each part is written at its offset, so completing it copies nothing.
 */
export async function localPartStore(dir: string, { place, checkFreeSpace }: Disk): Promise<PartStore> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const fileOf = (key: string) => path.join(dir, key);

  return {
    open: async (sizeBytes) => {
      await checkFreeSpace(sizeBytes);
      return randomBytes(16).toString('hex');
    },
    write: async (key, part, bytes) => {
      await checkFreeSpace(part.sizeBytes);
      try {
        return await writePart(fileOf(key), part, bytes);
      } catch (error) {
        throw toStoreError(error);
      }
    },
    complete: async (key, whole, beforeVisible) => {
      const file = fileOf(key);
      const taken = `${file}${WHOLE}`;
      // Rename the file, so that processes that still write a part no longer find it. After an interruption
      // it is already renamed.
      if ((await sizeOf(taken)) === null) await moveParts(file, taken, whole.partSha256s);
      try {
        const blob = await checkWhole(taken, whole);
        const target = place(blob.sha256);
        await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
        await beforeVisible(blob);
        await rename(taken, target);
        await flushFolder(path.dirname(target));
        return blob;
      } catch (error) {
        await rename(taken, file).catch((failure: unknown) => {
          if (!isMissing(failure)) throw failure;
        });
        throw toStoreError(error);
      }
    },
    abandon: async (key) => {
      await rm(fileOf(key), { force: true });
      await rm(`${fileOf(key)}${WHOLE}`, { force: true });
    },
    list: async () => [...new Set((await readdir(dir)).map((name) => name.replace(WHOLE, '')))],
  };
}

async function moveParts(file: string, taken: string, partSha256s: string[]): Promise<void> {
  try {
    await rename(file, taken);
  } catch (error) {
    if (isMissing(error)) throw new DamagedParts(partSha256s.map((_, index) => index + 1));
    throw error;
  }
}

/** Writes and flushes bytes. Opens the file again for each chunk, because it may be renamed at any time. */
async function writePart(
  file: string,
  { start, sizeBytes }: { start: number; sizeBytes: number },
  bytes: Readable,
): Promise<Blob> {
  const hash = createHash('sha256');
  let piece: Buffer[] = [];
  let pieceBytes = 0;
  let written = 0;
  const write = async () => {
    const handle = await open(file, O_RDWR | O_CREAT, 0o600);
    try {
      const { bytesWritten } = await handle.writev(piece, start + written);
      if (bytesWritten < pieceBytes) throw noRoom();
      written += pieceBytes;
      if (written === sizeBytes) await handle.datasync();
    } finally {
      await handle.close();
    }
    piece = [];
    pieceBytes = 0;
  };
  for await (const chunk of yieldBytes(bytes)) {
    hash.update(chunk);
    piece.push(chunk);
    pieceBytes += chunk.length;
    if (written + pieceBytes > sizeBytes) throw wrongSize(sizeBytes, 'more');
    if (pieceBytes >= BUFFER_BYTES) await write();
  }
  if (written + pieceBytes < sizeBytes) throw wrongSize(sizeBytes, String(written + pieceBytes));
  if (pieceBytes > 0) await write();
  return { sha256: hash.digest('hex'), sizeBytes };
}

/** Returns the bytes of a file as a blob. Throws DamagedParts if the parts do not match their hashes. */
async function checkWhole(
  file: string,
  { sizeBytes, partBytes, partSha256s, announcedSha256 }: Parameters<PartStore['complete']>[1],
): Promise<Blob> {
  // If the whole file matches its announced hash, the parts need no check.
  if (announcedSha256 !== null) {
    const [sha256] = await hashEvery(file, sizeBytes);
    if (sha256 === announcedSha256 && (await sizeOf(file)) === sizeBytes) return { sha256, sizeBytes };
  }
  const whole = createHash('sha256');
  const found = await hashEvery(file, partBytes, (chunk) => whole.update(chunk));
  const damaged = partSha256s.flatMap((sha256, index) => (found[index] === sha256 ? [] : [index + 1]));
  if (damaged.length > 0) throw new DamagedParts(damaged);
  return { sha256: whole.digest('hex'), sizeBytes };
}

/** Returns the hash of each section of `bytes` bytes. */
async function hashEvery(
  file: string,
  bytes: number,
  onChunk: (chunk: Buffer) => void = () => undefined,
): Promise<string[]> {
  const hashes: string[] = [];
  let hash = createHash('sha256');
  let hashed = 0;
  for await (const read of createReadStream(file, { highWaterMark: BUFFER_BYTES })) {
    let chunk: Buffer = read;
    onChunk(chunk);
    while (chunk.length > 0) {
      const own = chunk.subarray(0, bytes - hashed);
      hash.update(own);
      hashed += own.length;
      chunk = chunk.subarray(own.length);
      if (hashed < bytes) continue;
      hashes.push(hash.digest('hex'));
      hash = createHash('sha256');
      hashed = 0;
    }
  }
  if (hashed > 0) hashes.push(hash.digest('hex'));
  return hashes;
}

/** Returns the size of a file, or null if it does not exist. */
export async function sizeOf(file: string): Promise<number | null> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Yields the bytes, and marks errors of the sender, so that they are not mistaken for errors of the disk. */
export async function* yieldBytes(source: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of source) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw invalidRequest('The upload stopped before the file was complete', { cause: error });
  }
}

/** Flushes a folder, so that a rename in it survives a power loss. */
export async function flushFolder(dir: string): Promise<void> {
  const handle = await open(dir, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

/** Replaces the error of a full disk by a user-facing one; returns every other error unchanged. */
export function toStoreError(error: unknown): unknown {
  return (error as NodeJS.ErrnoException).code === 'ENOSPC' ? noRoom(error) : error;
}

export function noRoom(cause?: unknown): AppError {
  return unavailable('The server has no disk space left for this file. Its operator can make room.', {
    cause,
  });
}
