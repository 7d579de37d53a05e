import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { conflict, payloadTooLarge } from '../../errors.ts';
import { type Blob, type BlobStore, DamagedBlob, HashMismatch, type WriteOptions } from '../blob-store.ts';
import { BUFFER_BYTES, yieldBytes } from '../local-part-store.ts';
import { verified } from '../read-blob.ts';
import { assembleBytes, copyObject } from './assemble.ts';
import { type Bucket, codeOf, isMissing, statusOf, storeUnavailable } from './bucket.ts';
import { openLocalCopies } from './local-copies.ts';
import { listObjects, listUnfinished, readObject } from './read-object.ts';
import { s3PartStore } from './s3-part-store.ts';

/** Prefix of complete objects whose hash was not known when the upload began. */
const UNFINISHED = 'unfinished/';
/** An upload without a part for this long is abandoned. */
const STALE_MS = 6 * 60 * 60 * 1000;
/** Larger than S3's minimum for a part. Four parts of each upload are in memory. */
const PART_BYTES_MIN = 8 * 1024 * 1024;
const PARTS_MAX = 10_000;
/**
 * Lifetime of a link's signature, longer than any link is used. Links to the same file that are created
 * within half an hour are equal.
 */
const LINK_S = 90 * 60;

type Options = {
  /** Folder and maximum size of local copies of blobs. */
  copies: { dir: string; bytesMax: number };
  /** Whether browsers and workloads can reach the bucket and read from it directly. */
  links: boolean;
};

/** Returns the name of a blob in the bucket, which is also its path in the folder of a local store. */
export function nameOfBlob(sha256: string): string {
  return `${sha256.slice(0, 2)}/${sha256.slice(2)}`;
}

/**
 * Stores blobs in a bucket. Small blobs, and blobs with an announced hash, are written directly to their
 * final name. Others are first written under `unfinished/`, and then copied within the bucket.
 */
export async function openS3BlobStore(bucket: Bucket, { copies, links }: Options): Promise<BlobStore> {
  const read = async (sha256: string, range?: { start: number; end: number }) => {
    const { bytes, sizeBytes } = await readObject(bucket, nameOfBlob(sha256), range).catch(
      async (error: unknown) => {
        if (isMissing(error)) throw await missing(bucket, sha256);
        // The requested range starts behind the end, so the object is shorter than the blob.
        throw statusOf(error) === 416 ? new DamagedBlob(sha256, 'changed', error) : error;
      },
    );
    const isWhole = !range || (range.start === 0 && range.end >= sizeBytes - 1);
    return Readable.from(isWhole ? verified(bytes, sha256) : bytes, { objectMode: false });
  };
  const local = await openLocalCopies(copies.dir, { bytesMax: copies.bytesMax, download: read });
  const write = (bytes: Readable, options: WriteOptions = {}) => receive(bucket, bytes, options);

  return {
    ...{ read, write },
    adopt: async (localPath, beforeVisible) => {
      // Read the file twice, first for its hash, so that it can be written directly to its final name.
      const open = () => createReadStream(localPath, { highWaterMark: BUFFER_BYTES });
      const hash = createHash('sha256');
      for await (const chunk of open()) hash.update(chunk);
      try {
        const expectedSha256 = hash.digest('hex');
        return { ...(await write(open(), { expectedSha256, beforeVisible })), isLinked: false };
      } catch (error) {
        if (!(error instanceof HashMismatch)) throw error;
        throw conflict(`${localPath} was changed while it was read`);
      }
    },
    stat: async (sha256) => {
      try {
        const { ContentLength } = await bucket.ask(new HeadObjectCommand(bucket.at(nameOfBlob(sha256))));
        return { sizeBytes: ContentLength ?? 0 };
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    },
    withLocalFile: (sha256, work) => local.lend(sha256, work),
    presign: async (...asked) => (links ? presign(bucket, ...asked) : null),
    linkOrigin: links ? await originOf(bucket) : null,
    delete: async (sha256, signal) => {
      await local.forget(sha256);
      await bucket.ask(new DeleteObjectCommand(bucket.at(nameOfBlob(sha256))), signal);
    },
    freeBytes: async () => null,
    removeUnfinished: async () => {
      await local.removeStale();
      await removeUnfinished(bucket);
    },
    parts: s3PartStore(bucket, nameOfBlob),
  };
}

async function presign(
  bucket: Bucket,
  sha256: string,
  { contentType, contentDisposition, expiresAt }: Parameters<BlobStore['presign']>[1],
): Promise<string> {
  const answer = { ResponseContentType: contentType, ResponseContentDisposition: contentDisposition };
  const command = new GetObjectCommand({ ...bucket.at(nameOfBlob(sha256)), ...answer });
  // Links with the same expiry are equal, so that browsers reuse their cached copy.
  const signingDate = new Date(expiresAt.getTime() - LINK_S * 1000);
  return getSignedUrl(bucket.client, command, { expiresIn: LINK_S, signingDate });
}

async function originOf(bucket: Bucket): Promise<string> {
  return new URL(await getSignedUrl(bucket.client, new GetObjectCommand(bucket.at('any')))).origin;
}

/**
 * Returns the error for a missing blob. If the store is completely empty, it is probably another bucket or
 * prefix, so the blob does not count as damaged.
 */
async function missing(bucket: Bucket, sha256: string): Promise<Error> {
  // Blobs have the first names in the order of the list.
  for await (const { name } of listObjects(bucket, '', 1))
    if (/^[0-9a-f]{2}\//.test(name)) return new DamagedBlob(sha256, 'missing');
    else break;
  return storeUnavailable(
    `There are no stored files in the bucket '${bucket.name}' below '${bucket.prefix}': correct BAKEHOUSE_S3_BUCKET or BAKEHOUSE_S3_PREFIX.`,
    null,
  );
}

async function receive(
  bucket: Bucket,
  bytes: Readable,
  {
    sizeBytesMax = Number.POSITIVE_INFINITY,
    tooLargeMessage = 'The file is too large',
    expectedBytes = 0,
    expectedSha256,
    beforeVisible,
  }: WriteOptions,
): Promise<Blob> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const counted = async function* () {
    for await (const chunk of yieldBytes(bytes)) {
      sizeBytes += chunk.length;
      if (sizeBytes > sizeBytesMax) throw payloadTooLarge(tooLargeMessage);
      hash.update(chunk);
      yield chunk;
    }
  };
  /** Called when all pieces have been received. */
  const register = async (): Promise<Blob> => {
    const blob = { sha256: hash.digest('hex'), sizeBytes };
    if (blob.sha256 !== (expectedSha256 ?? blob.sha256)) throw new HashMismatch(blob.sha256);
    await beforeVisible?.(blob);
    return blob;
  };
  const partBytes = Math.max(PART_BYTES_MIN, Math.ceil(Math.max(expectedBytes, 0) / PARTS_MAX));
  const pieces = inPieces(counted(), partBytes);
  const first = (await pieces.next()).value ?? Buffer.alloc(0);
  if (first.length < partBytes) {
    const small = await register();
    await bucket.ask(
      new PutObjectCommand({
        ...bucket.at(nameOfBlob(small.sha256)),
        ...{ Body: first, ContentLength: first.length },
      }),
    );
    return small;
  }
  const all = following(first, pieces);
  // An invalid hash must not become the name of a blob.
  if (expectedSha256 !== undefined && /^[0-9a-f]{64}$/.test(expectedSha256))
    return assembleBytes(bucket, nameOfBlob(expectedSha256), all, register);
  return assembleAndMove(bucket, all, register);
}

/** Stores bytes whose name is known only when all have been received. */
async function assembleAndMove(
  bucket: Bucket,
  pieces: AsyncIterable<Buffer>,
  register: () => Promise<Blob>,
): Promise<Blob> {
  const name = UNFINISHED + randomBytes(16).toString('hex');
  await assembleBytes(bucket, name, pieces, async () => undefined);
  try {
    const blob = await register();
    await copyObject(bucket, nameOfBlob(blob.sha256), { name, etag: undefined, sizeBytes: blob.sizeBytes });
    return blob;
  } finally {
    // If this fails, `removeUnfinished` deletes the object later.
    await bucket.ask(new DeleteObjectCommand(bucket.at(name))).catch(() => undefined);
  }
}

async function* following(first: Buffer, others: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* others;
}

/** Yields the bytes in pieces of the same size; the last one may be shorter. */
async function* inPieces(bytes: AsyncIterable<Buffer>, size: number): AsyncGenerator<Buffer> {
  let piece: Buffer[] = [];
  let length = 0;
  for await (let chunk of bytes) {
    while (length + chunk.length >= size) {
      yield Buffer.concat([...piece, chunk.subarray(0, size - length)]);
      chunk = chunk.subarray(size - length);
      [piece, length] = [[], 0];
    }
    piece.push(chunk);
    length += chunk.length;
  }
  if (length > 0) yield Buffer.concat(piece);
}

async function removeUnfinished(bucket: Bucket): Promise<void> {
  const isStale = (at: Date) => Date.now() - at.getTime() > STALE_MS;
  for await (const { upload, changedAt } of listUnfinished(bucket)) {
    if (!isStale(changedAt)) continue;
    await bucket.ask(new AbortMultipartUploadCommand(upload)).catch((error: unknown) => {
      // Ignore this error: the upload was completed in the meantime.
      if (codeOf(error) !== 'NoSuchUpload') throw error;
    });
  }
  for await (const { name, changedAt } of listObjects(bucket, UNFINISHED))
    if (isStale(changedAt)) await bucket.ask(new DeleteObjectCommand(bucket.at(name)));
}
