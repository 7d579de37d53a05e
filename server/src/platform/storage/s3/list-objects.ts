import { ListMultipartUploadsCommand, ListObjectsV2Command, ListPartsCommand } from '@aws-sdk/client-s3';
import type { Bucket } from './bucket.ts';

export type ListedObject = { name: string; sizeBytes: number; changedAt: Date };

/** Yields the objects with this prefix, ordered by name, at most `perCall` per request. */
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

/** Names of this store's own multipart uploads, because the bucket may be shared. */
const OWN = /^([0-9a-f]{2}\/[0-9a-f]{62}$|unfinished\/)/;

/** Yields this store's own incomplete multipart uploads, with the time of their last part. */
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
