import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { DeleteObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { type Blob, DamagedParts, type PartStore } from '../blob-store.ts';
import { yieldBytes } from '../local-part-store.ts';
import { wrongSize } from '../read-blob.ts';
import { assembleCopies, copyObject } from './assemble.ts';
import { type Bucket, isMissing, statusOf } from './bucket.ts';
import { listObjects, readObject } from './read-object.ts';

/** Prefix of parts, which are stored below the key of their upload. */
const PARTS = 'parts/';

type Whole = Parameters<PartStore['complete']>[1];

/**
 * Stores unfinished blobs in a bucket. Each part is a separate object, so that it can be sent again. Once the
 * hash of the whole blob is known, which is its name, the bucket copies the parts into one object.
 */
export function s3PartStore(bucket: Bucket, place: (sha256: string) => string): PartStore {
  const folderOf = (key: string) => `${PARTS}${key}/`;
  const nameOf = (key: string, number: number) => `${folderOf(key)}${number}`;

  const abandon = async (key: string) => {
    for await (const { name } of listObjects(bucket, folderOf(key)))
      await bucket.ask(new DeleteObjectCommand(bucket.at(name)));
  };

  return {
    open: async () => randomBytes(16).toString('hex'),
    write: (key, part, bytes) => putPart(bucket, nameOf(key, part.number), part.sizeBytes, bytes),
    complete: async (key, whole, beforeVisible) => {
      const names = whole.partSha256s.map((_, index) => nameOf(key, index + 1));
      const { blob, etags } = await checkWhole(bucket, names, whole);
      const sources = names.map((name, index) => ({ name, etag: etags[index] }));
      const [only, ...more] = sources;
      try {
        if (only && more.length === 0) {
          await beforeVisible(blob);
          await copyObject(bucket, place(blob.sha256), { ...only, sizeBytes: blob.sizeBytes });
        } else await assembleCopies(bucket, place(blob.sha256), sources, () => beforeVisible(blob));
      } catch (error) {
        // The error does not say which part was rewritten in the meantime.
        if (statusOf(error) === 412) throw new DamagedParts(names.map((_, index) => index + 1));
        throw error;
      }
      await abandon(key);
      return blob;
    },
    abandon,
    list: async () => {
      const { Bucket, Key: Prefix } = bucket.at(PARTS);
      const keys: string[] = [];
      let ContinuationToken: string | undefined;
      do {
        const page = await bucket.ask(
          new ListObjectsV2Command({ Bucket, Prefix, Delimiter: '/', ContinuationToken }),
        );
        for (const one of page.CommonPrefixes ?? []) keys.push((one.Prefix ?? '').slice(Prefix.length, -1));
        ContinuationToken = page.NextContinuationToken;
      } while (ContinuationToken !== undefined);
      return keys;
    },
  };
}

/** Streams a part, so that it is never completely in memory. */
async function putPart(bucket: Bucket, name: string, sizeBytes: number, bytes: Readable): Promise<Blob> {
  const hash = createHash('sha256');
  const broken = new AbortController();
  let came = 0;
  const counted = async function* () {
    try {
      for await (const chunk of yieldBytes(bytes)) {
        came += chunk.length;
        if (came > sizeBytes) throw wrongSize(sizeBytes, 'more');
        hash.update(chunk);
        yield chunk;
      }
      if (came < sizeBytes) throw wrongSize(sizeBytes, String(came));
    } catch (error) {
      broken.abort(error);
    }
  };
  const Body = Readable.from(counted(), { objectMode: false });
  try {
    await bucket.ask(
      new PutObjectCommand({ ...bucket.at(name), Body, ContentLength: sizeBytes }),
      broken.signal,
    );
  } catch (error) {
    throw broken.signal.aborted ? broken.signal.reason : error;
  } finally {
    Body.destroy();
  }
  return { sha256: hash.digest('hex'), sizeBytes };
}

/** Returns the combined blob, and for each part the ETag of the bytes that were read. Throws DamagedParts. */
async function checkWhole(
  bucket: Bucket,
  names: string[],
  { sizeBytes, partBytes, partSha256s }: Whole,
): Promise<{ blob: Blob; etags: (string | undefined)[] }> {
  const whole = createHash('sha256');
  const etags: (string | undefined)[] = [];
  const damaged: number[] = [];
  for (const [index, name] of names.entries()) {
    const expected = Math.min(partBytes, sizeBytes - index * partBytes);
    const found = await readPart(bucket, name, (chunk) => whole.update(chunk));
    if (found?.sha256 !== partSha256s[index] || found?.sizeBytes !== expected) damaged.push(index + 1);
    etags.push(found?.etag);
  }
  if (damaged.length > 0) throw new DamagedParts(damaged);
  return { blob: { sha256: whole.digest('hex'), sizeBytes }, etags };
}

async function readPart(bucket: Bucket, name: string, onChunk: (chunk: Buffer) => void) {
  const part = await readObject(bucket, name).catch((error: unknown) => {
    if (isMissing(error)) return null;
    throw error;
  });
  if (!part) return null;
  const hash = createHash('sha256');
  for await (const chunk of part.bytes) {
    hash.update(chunk);
    onChunk(chunk);
  }
  return { sha256: hash.digest('hex'), sizeBytes: part.sizeBytes, etag: part.etag };
}
