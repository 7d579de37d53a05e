import type { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import type { Services } from '../context.ts';
import type { Http } from '../http/bind.ts';
import { readBlob } from './read-blob.ts';

export type ZippedFile = { path: string; sha256: string; sizeBytes: number; modifiedAt: Date };

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
