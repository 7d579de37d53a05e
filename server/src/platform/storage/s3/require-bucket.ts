import { randomBytes } from 'node:crypto';
import { DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import type { Bucket } from './bucket.ts';
import { listObjects } from './read-object.ts';

/** Throws a sentence for the operator if the bucket is not readable and writable. */
export async function requireBucket(bucket: Bucket): Promise<void> {
  const probe = bucket.at(`unfinished/start-${randomBytes(8).toString('hex')}`);
  try {
    await listObjects(bucket, '', 1).next();
    await bucket.ask(new PutObjectCommand({ ...probe, Body: 'May this server write here?' }));
    await bucket.ask(new DeleteObjectCommand(probe));
  } catch (error) {
    // The error's own message is for callers; its cause has the reason for the operator.
    throw error instanceof Error && error.cause instanceof Error ? error.cause : error;
  }
}
