import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Unreadable } from './table.ts';

type File = { localPath: string; name: string };

/** Yields the decompressed bytes of a gzip file. Throws Unreadable if it is truncated or damaged. */
export async function* unpack(file: File): AsyncGenerator<Buffer> {
  const unpacked = createGunzip();
  // The reader of `unpacked` gets the error.
  pipeline(createReadStream(file.localPath), unpacked, () => undefined);
  try {
    yield* unpacked as AsyncIterable<Buffer>;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (!code?.startsWith('Z_')) throw cause;
    const what = code === 'Z_BUF_ERROR' ? 'cut off' : 'damaged';
    throw new Unreadable(`${file.name} is ${what}: upload it again.`, { cause });
  }
}
