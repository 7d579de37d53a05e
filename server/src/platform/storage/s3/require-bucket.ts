import { randomBytes } from 'node:crypto';
import { DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import type { Bucket } from './bucket.ts';
import { listObjects } from './read-object.ts';

/** Throws a sentence for the operator unless the bucket is readable and writable. */
export async function requireBucket(bucket: Bucket): Promise<void> {
  const probe = bucket.at(`unfinished/start-${randomBytes(8).toString('hex')}`);
  try {
    await listObjects(bucket, '', 1).next();
    await bucket.ask(new PutObjectCommand({ ...probe, Body: 'May this server write here?' }));
    await bucket.ask(new DeleteObjectCommand(probe));
  } catch (error) {
    // Unwraps the operator's reason from the caller's sentence.
    throw error instanceof Error && error.cause instanceof Error ? error.cause : error;
  }
}
