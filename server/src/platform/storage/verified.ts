import { createHash } from 'node:crypto';
import { DamagedBlob } from './blob-store.ts';

/** Yields the bytes, but the last chunk only if all together match this hash. */
export async function* verified(bytes: AsyncIterable<Buffer>, sha256: string): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let last: Buffer | null = null;
  for await (const chunk of bytes) {
    hash.update(chunk);
    if (last) yield last;
    last = chunk;
  }
  if (hash.digest('hex') !== sha256) throw new DamagedBlob(sha256, 'changed');
  if (last) yield last;
}
