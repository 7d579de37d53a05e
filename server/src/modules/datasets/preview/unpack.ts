import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { isPacked } from '../data-file.ts';
import { Unreadable } from './unreadable.ts';

type File = { localPath: string; name: string };

/** Whether a text file, unpacked where it is packed, has more bytes than this. Throws as `unpack` does. */
export async function hasMoreThan(file: File, bytes: number): Promise<boolean> {
  if (!isPacked(file.name)) return (await stat(file.localPath)).size > bytes;
  let unpacked = 0;
  for await (const piece of unpack(file)) if ((unpacked += piece.length) > bytes) return true;
  return false;
}

/** The bytes of a file that is packed with gzip. Throws Unreadable where it is cut off or damaged. */
export async function* unpack(file: File): AsyncGenerator<Buffer> {
  const unpacked = createGunzip();
  // Whoever reads what is unpacked gets the error.
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
