import type { Hash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Pack } from 'tar-stream';

const PIECE_BYTES = 1024 * 1024;

/**
 * Adds a file that others may be writing to: its size when it is opened, padded with zeros if it is truncated
 * while being read. Returns false if it does not exist. With a `hash`, which also receives the bytes,
 * unreadable parts become zeros; the hash then differs.
 */
export async function addFile(tar: Pack, dir: string, name: string, hash?: Hash): Promise<boolean> {
  const handle = await open(path.join(dir, name)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (!handle) return false;
  try {
    const { size, mode, mtime } = await handle.stat();
    const entry = tar.entry({ name, size, mode: mode & 0o777, mtime });
    await pipeline(Readable.from(exactly(handle, size, hash), { objectMode: false }), entry);
    return true;
  } finally {
    await handle.close();
  }
}

export async function addText(tar: Pack, name: string, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  await pipeline(
    Readable.from([bytes], { objectMode: false }),
    tar.entry({ name, size: bytes.length, mode: 0o600 }),
  );
}

async function* exactly(handle: FileHandle, size: number, hash?: Hash): AsyncGenerator<Buffer> {
  for (let at = 0; at < size; ) {
    const piece = Buffer.alloc(Math.min(PIECE_BYTES, size - at));
    const { bytesRead } = await handle.read(piece, 0, piece.length, at).catch((error: unknown) => {
      if (!hash) throw error;
      return { bytesRead: 0 };
    });
    const bytes = bytesRead === 0 ? piece : piece.subarray(0, bytesRead);
    hash?.update(bytes);
    yield bytes;
    at += bytes.length;
  }
}
