import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
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

type ZippedFile = { path: string; sha256: string; sizeBytes: number; modifiedAt: Date };

/**
 * Sends these files as a zip, created on the fly, with these headers. Weights and images do not compress, so
 * nothing is compressed and the length is known in advance.
 */
export async function sendZip(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  { reply }: Pick<Http, 'reply'>,
  { files, headers }: { files: ZippedFile[]; headers: Record<string, string> },
): Promise<void> {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  zip.on('error', (error: Error) => output.destroy(error));
  // The zip only stops reading when the client disconnects; its file would stay open.
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
    // The types omit the callback's argument.
    zip.end({ forceZip64Format: false, comment: '' }, resolve as () => void);
  });
  await reply
    .headers({ ...headers, 'content-type': 'application/zip', 'content-length': bytes })
    .send(output);
}
