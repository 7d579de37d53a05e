import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { type Bucket, unavailable } from './bucket.ts';
import { codeOf, statusOf } from './faults.ts';

/** Consecutive, without a byte in between. */
const BREAKS_MAX = 5;
const PAUSE_MS = 200;

export type OpenedObject = {
  bytes: AsyncIterable<Buffer>;
  /** Size of the whole object. */
  sizeBytes: number;
  etag: string | undefined;
};

/**
 * Opens an object, or the bytes from `start` to `end`, both inclusive. After a disconnect, reading resumes
 * from the next byte, if the object is unchanged. Throws the errors of `ask`.
 */
export async function readObject(
  bucket: Bucket,
  name: string,
  range?: { start: number; end: number },
): Promise<OpenedObject> {
  const get = async (from: string | undefined, etag?: string) => {
    const command = new GetObjectCommand({ ...bucket.at(name), Range: from, IfMatch: etag });
    const answer = await bucket.ask(command);
    // In Node it is always a Readable.
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
          throw unavailable(`The bytes of ${name} break off again and again (${codeOf(error)}).`, error);
      }
      if (at > end) return;
      if (breaks >= BREAKS_MAX)
        throw unavailable(`The bytes of ${name} end too early again and again.`, null);
      await sleep(PAUSE_MS * 2 ** breaks);
      ({ body } = await get(`bytes=${at}-${end}`, first.ETag).catch((error: unknown) => {
        if (statusOf(error) === 412) throw unavailable(`${name} was stored again while it was read.`, error);
        throw error;
      }));
    }
  };
  return { bytes: bytes(), sizeBytes: total, etag: first.ETag };
}
