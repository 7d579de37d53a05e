import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { ZipFile } from 'yazl';
import type { Services } from '../context.ts';
import { Answer } from '../http/answer.ts';
import { parseRange } from '../http/parse-range.ts';
import { readBlob } from './read-blob.ts';

/**
 * The parts of a request that decide whether to send the whole file, a range of it, or nothing because the
 * client's copy is current.
 */
export type FileRequest = Pick<FastifyRequest, 'method' | 'headers'>;

/**
 * Returns a file, or the requested range of it, with these headers. The ETag is the SHA-256, so clients can
 * resume downloads and reuse cached copies. Throws the errors of `readBlob`.
 */
export async function answerBlob(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  request: FileRequest,
  file: { sha256: string; path: string; sizeBytes: number; headers: Record<string, string> },
): Promise<Answer> {
  const { sha256, path, sizeBytes } = file;
  const etag = `"${sha256}"`;
  const headers = { ...file.headers, etag, 'accept-ranges': 'bytes' };
  if (request.headers['if-none-match']?.split(',').some((tag) => tag.trim() === etag))
    return new Answer(undefined, { status: 304, headers });
  const ifRange = request.headers['if-range'];
  const range =
    ifRange === undefined || ifRange === etag ? parseRange(request.headers.range, sizeBytes) : null;
  if (range === 'unsatisfiable')
    return new Answer(undefined, { status: 416, headers: { 'content-range': `bytes */${sizeBytes}` } });
  // Not `undefined`, for which Fastify would send a length of 0.
  const bytes =
    request.method === 'HEAD' || sizeBytes === 0
      ? Readable.from([])
      : await readBlob(services, { sha256, path, range: range ?? undefined });
  if (!range) return new Answer(bytes, { headers: { ...headers, 'content-length': sizeBytes } });
  const { start, end } = range;
  return new Answer(bytes, {
    status: 206,
    headers: {
      ...headers,
      'content-length': end - start + 1,
      'content-range': `bytes ${start}-${end}/${sizeBytes}`,
    },
  });
}

type ZippedFile = { path: string; sha256: string; sizeBytes: number; modifiedAt: Date };

/**
 * Returns these files as a zip with these headers. The zip is created while it is sent. Weights and images do
 * not compress, so nothing is compressed and the length is known in advance.
 */
export async function answerZip(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  { files, headers }: { files: ZippedFile[]; headers: Record<string, string> },
): Promise<Answer> {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  zip.on('error', (error: Error) => output.destroy(error));
  // When the client disconnects, the zip stops reading but does not close its current file.
  let current: Readable | undefined;
  output.on('close', () => current?.destroy());
  for (const { path, sha256, sizeBytes: size, modifiedAt: mtime } of files) {
    zip.addReadStreamLazy(path, { compress: false, size, mtime }, (done) => {
      readBlob(services, { sha256, path }).then(
        (bytes) => {
          current = bytes;
          if (output.destroyed) bytes.destroy();
          done(null, bytes);
        },
        (error: unknown) => done(error, null as never),
      );
    });
  }
  const bytes = await new Promise<number>((resolve) => {
    // The library's types omit the callback's argument.
    zip.end({ forceZip64Format: false, comment: '' }, resolve as () => void);
  });
  return new Answer(output, {
    headers: { ...headers, 'content-type': 'application/zip', 'content-length': bytes },
  });
}
