import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import type { Bucket } from './bucket.ts';

/** Number of parts that are sent concurrently per object. Each is held in memory. */
const PARTS_AT_ONCE = 4;
/** S3's size limit for a copy with a single call. */
const COPY_BYTES_MAX = 5 * 1024 ** 3;
const COPIED_PART_BYTES = 1024 ** 3;

type PartOf = { Bucket: string; Key: string; UploadId: string | undefined; PartNumber: number };
/** Sends one part and returns its ETag. */
type SendPart = (part: PartOf) => Promise<string | undefined>;
/** Bytes in the bucket. Reading them fails if the object no longer has this ETag. */
type Source = { name: string; etag: string | undefined; range?: { start: number; end: number } };

/**
 * Assembles one object from parts. Up to four parts are sent at a time. The object becomes visible after
 * `beforeVisible`, whose result is returned. If anything fails, nothing is left.
 */
async function assemble<T>(
  bucket: Bucket,
  name: string,
  parts: AsyncIterable<SendPart> | Iterable<SendPart>,
  beforeVisible: () => Promise<T>,
): Promise<T> {
  const { UploadId } = await bucket.ask(new CreateMultipartUploadCommand(bucket.at(name)));
  const upload = { ...bucket.at(name), UploadId };
  const sent: Promise<{ PartNumber: number; ETag: string | undefined }>[] = [];
  const underWay = new Set<Promise<unknown>>();
  try {
    for await (const send of parts) {
      const PartNumber = sent.length + 1;
      const one = send({ ...upload, PartNumber }).then((ETag) => ({ PartNumber, ETag }));
      sent.push(one);
      // A part that fails stays in the set, so that the next wait rejects.
      const done: Promise<unknown> = one.then(() => underWay.delete(done));
      done.catch(() => undefined);
      underWay.add(done);
      if (underWay.size >= PARTS_AT_ONCE) await Promise.race(underWay);
    }
    const Parts = await Promise.all(sent);
    const answer = await beforeVisible();
    await bucket.ask(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
    return answer;
  } catch (error) {
    await Promise.allSettled(sent);
    // If the abort fails too, `removeUnfinished` deletes the parts later.
    await bucket.ask(new AbortMultipartUploadCommand(upload)).catch(() => undefined);
    throw error;
  }
}

/** Assembles one object from these pieces; each piece is sent as a part. */
export async function assembleBytes<T>(
  bucket: Bucket,
  name: string,
  pieces: AsyncIterable<Buffer>,
  beforeVisible: () => Promise<T>,
): Promise<T> {
  const parts = async function* (): AsyncGenerator<SendPart> {
    for await (const Body of pieces)
      yield async (part) => (await bucket.ask(new UploadPartCommand({ ...part, Body }))).ETag;
  };
  return assemble(bucket, name, parts(), beforeVisible);
}

/** Assembles one object from others within the bucket. All except the last need at least 5 MiB. */
export async function assembleCopies(
  bucket: Bucket,
  name: string,
  sources: Source[],
  beforeVisible: () => Promise<void>,
): Promise<void> {
  const parts = sources.map(
    (source): SendPart =>
      async (part) => {
        const { CopyPartResult } = await bucket.ask(
          new UploadPartCopyCommand({
            ...part,
            ...copySource(bucket, source),
            CopySourceRange: source.range && `bytes=${source.range.start}-${source.range.end}`,
          }),
        );
        return CopyPartResult?.ETag;
      },
  );
  await assemble(bucket, name, parts, beforeVisible);
}

/** Copies an object of this size within the bucket, with a single call if it is small enough. */
export async function copyObject(
  bucket: Bucket,
  name: string,
  { sizeBytes, ...source }: Omit<Source, 'range'> & { sizeBytes: number },
  { bytesMax, partBytes } = { bytesMax: COPY_BYTES_MAX, partBytes: COPIED_PART_BYTES },
): Promise<void> {
  if (sizeBytes <= bytesMax) {
    await bucket.ask(new CopyObjectCommand({ ...bucket.at(name), ...copySource(bucket, source) }));
    return;
  }
  const count = Math.ceil(sizeBytes / partBytes);
  const ranges = Array.from({ length: count }, (_, index) => {
    const start = index * partBytes;
    return { ...source, range: { start, end: Math.min(start + partBytes, sizeBytes) - 1 } };
  });
  await assembleCopies(bucket, name, ranges, async () => undefined);
}

function copySource(bucket: Bucket, { name, etag }: Source) {
  const { Bucket, Key } = bucket.at(name);
  return {
    CopySource: `${Bucket}/${Key.split('/').map(encodeURIComponent).join('/')}`,
    CopySourceIfMatch: etag,
  };
}
