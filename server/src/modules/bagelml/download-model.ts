import type { Readable } from 'node:stream';
import type { AssetFile } from '@bakehouse/contract/assets';
import { FILES_SHOWN_MAX } from '@bakehouse/contract/assets';
import { ZipFile } from 'yazl';
import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import type { Http } from '../../platform/http/bind.ts';
import { readBlob } from '../../platform/storage/read-blob.ts';
import { getInfo } from '../assets/files/get-info.ts';

/**
 * Answers with all files of the newest revision as a zip, made while it is sent. Weights do not get
 * smaller, so nothing is compressed. Throws AppError('not_found') where there is no file yet.
 */
export async function downloadModel(
  ctx: Context,
  { modelId }: { modelId: string },
  { reply }: Http,
): Promise<void> {
  const files = await listAllFiles(ctx, modelId);
  if (files.length === 0) throw new AppError('not_found', { publicMessage: 'This model has no files yet' });
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  zip.on('error', (error: Error) => output.destroy(error));
  // The zip only stops reading when the client disconnects; its file would stay open.
  let current: Readable | undefined;
  output.on('close', () => current?.destroy());
  for (const { path, sha256, size_bytes: size, uploaded_at: mtime } of files) {
    zip.addReadStreamLazy(path, { compress: false, size, mtime: new Date(mtime) }, (done) => {
      readBlob(ctx, { sha256, path }).then(
        (bytes) => {
          current = bytes;
          if (output.destroyed) bytes.destroy();
          done(null, bytes);
        },
        (error: unknown) => done(error, null as never),
      );
    });
  }
  zip.end();
  await reply
    .headers({
      'content-type': 'application/zip',
      'content-disposition': `attachment; filename="${modelId}.zip"`,
    })
    .send(output);
}

async function listAllFiles(ctx: Context, assetId: string): Promise<AssetFile[]> {
  const files: AssetFile[] = [];
  let cursor: string | undefined;
  do {
    const page = await getInfo(ctx, { assetId, path: '', limit: FILES_SHOWN_MAX, cursor });
    files.push(...page.files);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return files;
}
