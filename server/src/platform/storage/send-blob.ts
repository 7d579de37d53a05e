import { Readable } from 'node:stream';
import type { Services } from '../context.ts';
import type { Http } from '../http/bind.ts';
import { parseRange } from '../http/parse-range.ts';
import { readBlob } from './read-blob.ts';

/**
 * Sends a file, or the requested range, with these headers. The ETag is the SHA-256, so that downloads can be
 * resumed and cached copies reused. Throws the errors of `readBlob`.
 */
export async function sendBlob(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  { request, reply }: Http,
  file: { sha256: string; path: string; sizeBytes: number; headers: Record<string, string> },
): Promise<void> {
  const { sha256, path, sizeBytes } = file;
  const etag = `"${sha256}"`;
  const headers = { ...file.headers, etag, 'accept-ranges': 'bytes' };
  if (request.headers['if-none-match']?.split(',').some((tag) => tag.trim() === etag)) {
    await reply.code(304).headers(headers).send();
    return;
  }
  const ifRange = request.headers['if-range'];
  const range =
    ifRange === undefined || ifRange === etag ? parseRange(request.headers.range, sizeBytes) : null;
  if (range === 'unsatisfiable') {
    await reply.code(416).header('content-range', `bytes */${sizeBytes}`).send();
    return;
  }
  // With no body at all the framework would send a length of 0.
  const bytes =
    request.method === 'HEAD' || sizeBytes === 0
      ? Readable.from([])
      : await readBlob(services, { sha256, path, range: range ?? undefined });
  // Set only now, so that errors are not cached.
  reply.headers(headers).header('content-length', range ? range.end - range.start + 1 : sizeBytes);
  if (range) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${sizeBytes}`);
  await reply.send(bytes);
}
