import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
} from '@aws-sdk/client-s3';
import { type Bucket, codeOf, statusOf, storeUnavailable } from './bucket.ts';

/** Number of consecutive disconnects without a byte in between. */
const BREAKS_MAX = 5;

const PAUSE_MS = 200;

/** Keys of this store's own multipart uploads. The bucket may contain others. */
const OWN = /^([0-9a-f]{2}\/[0-9a-f]{62}$|unfinished\/)/;

type OpenedObject = {
  bytes: AsyncIterable<Buffer>;
  /** Size of the whole object. */
  sizeBytes: number;
  etag: string | undefined;
};

/**
 * Opens an object, or its bytes from `start` to `end`, both inclusive. After a disconnect, continues with the
 * next byte if the object has not changed. Throws the errors of `ask`.
 */
export async function readObject(
  bucket: Bucket,
  name: string,
  range?: { start: number; end: number },
): Promise<OpenedObject> {
  const get = async (from: string | undefined, etag?: string) => {
    const command = new GetObjectCommand({ ...bucket.at(name), Range: from, IfMatch: etag });
    const answer = await bucket.ask(command);
    // In Node the body is always a Readable.
    return { ...answer, body: answer.Body as Readable };
  };
  const first = await get(range && `bytes=${range.start}-${range.end}`);
  const total = Number(first.ContentRange?.split('/')[1] ?? first.ContentLength ?? 0);
  const start = range?.start ?? 0;
  const end = start + (first.ContentLength ?? 0) - 1;
  const bytes = async function* (): AsyncGenerator<Buffer> {
    let { body } = first;
    let at = start;
    for (let breaks = 0; at <= end; breaks += 1) {
      try {
        for await (const chunk of body) {
          yield chunk;
          at += (chunk as Buffer).length;
          breaks = 0;
        }
      } catch (error) {
        if (breaks >= BREAKS_MAX)
          throw storeUnavailable(`The bytes of ${name} break off again and again (${codeOf(error)}).`, error);
      }
      if (at > end) return;
      if (breaks >= BREAKS_MAX)
        throw storeUnavailable(`The bytes of ${name} end too early again and again.`, null);
      await sleep(PAUSE_MS * 2 ** breaks);
      ({ body } = await get(`bytes=${at}-${end}`, first.ETag).catch((error: unknown) => {
        if (statusOf(error) === 412)
          throw storeUnavailable(`${name} was stored again while it was read.`, error);
        throw error;
      }));
    }
  };
  return { bytes: bytes(), sizeBytes: total, etag: first.ETag };
}

type ListedObject = { name: string; sizeBytes: number; changedAt: Date };

/** Yields the objects with this prefix, ordered by name. Requests at most `perCall` at a time. */
export async function* listObjects(
  bucket: Bucket,
  prefix: string,
  perCall = 1000,
): AsyncGenerator<ListedObject> {
  const { Bucket, Key } = bucket.at(prefix);
  let ContinuationToken: string | undefined;
  do {
    const page = await bucket.ask(
      new ListObjectsV2Command({ Bucket, Prefix: Key, MaxKeys: perCall, ContinuationToken }),
    );
    for (const { Key: key = '', Size = 0, LastModified = new Date() } of page.Contents ?? [])
      yield { name: key.slice(bucket.prefix.length), sizeBytes: Size, changedAt: LastModified };
    ContinuationToken = page.NextContinuationToken;
  } while (ContinuationToken !== undefined);
}

/** Yields this store's own incomplete multipart uploads, and when each got its last part. */
export async function* listUnfinished(
  bucket: Bucket,
): AsyncGenerator<{ upload: { Bucket: string; Key: string; UploadId: string }; changedAt: Date }> {
  const { Bucket, Key } = bucket.at('');
  let marker: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {};
  for (;;) {
    const page = await bucket.ask(new ListMultipartUploadsCommand({ Bucket, Prefix: Key, ...marker }));
    for (const { Key: key = '', UploadId = '', Initiated = new Date() } of page.Uploads ?? []) {
      if (!OWN.test(key.slice(bucket.prefix.length))) continue;
      const upload = { Bucket, Key: key, UploadId };
      yield { upload, changedAt: await lastPartAt(bucket, upload, Initiated) };
    }
    if (!page.IsTruncated) return;
    marker = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
  }
}

async function lastPartAt(
  bucket: Bucket,
  upload: { Bucket: string; Key: string; UploadId: string },
  initiated: Date,
): Promise<Date> {
  let last = initiated;
  let PartNumberMarker: string | undefined;
  do {
    const page = await bucket.ask(new ListPartsCommand({ ...upload, PartNumberMarker }));
    for (const { LastModified } of page.Parts ?? [])
      if (LastModified && LastModified > last) last = LastModified;
    PartNumberMarker = page.IsTruncated ? page.NextPartNumberMarker : undefined;
  } while (PartNumberMarker !== undefined);
  return last;
}
