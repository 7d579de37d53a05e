import { filePreview } from '@bakehouse/contract/assets';
import * as z from 'zod';
import { OutOfLimits, runConfined } from '../../../platform/confined/run-confined.ts';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { withBlobFile } from '../../../platform/storage/with-blob-file.ts';
import { findReadableAsset } from '../access/find-readable-asset.ts';
import { findNewestFile } from '../queries.ts';
import type { Page, Preview } from './read-preview.ts';

const LIMIT_MS = 15_000;
const HEAP_MB = 512;
const PROGRAM = new URL('./read-preview-program.ts', import.meta.url);

const answer = z.union([
  z.object({ preview: filePreview }),
  z.object({ unreadable: z.object({ sentence: z.string(), param: z.string() }) }),
]);

/**
 * Some rows of a data file, read in a process of its own, because a file can be made so that this
 * takes long or much memory. Throws AppError('invalid_request') for other kinds of file, for what
 * cannot be read, and for what takes too much.
 */
export async function previewFile(
  ctx: Context,
  { assetId, path, offset, limit }: { assetId: string; path: string } & Page,
): Promise<Preview> {
  const { userId } = ctx.caller;
  const asset = await findReadableAsset(ctx.db, { assetId, userId });
  const file = await findNewestFile(ctx.db, asset.id, path);
  if (!file) throw new AppError('not_found', { publicMessage: `There is no file ${path}`, param: 'path' });
  const limits = { ms: LIMIT_MS, heapMb: HEAP_MB, whose: userId };
  const output = await withBlobFile(ctx, file, (localPath) =>
    runConfined(ctx.wall, { program: PROGRAM, localPath, input: { name: path, offset, limit } }, limits),
  ).catch((cause: unknown) => {
    if (!(cause instanceof OutOfLimits)) throw cause;
    throw new AppError('invalid_request', {
      publicMessage: `${path} takes too much time or memory to be shown here. Download it to see its rows.`,
      param: 'path',
      cause,
    });
  });
  const read = answer.parse(output);
  if ('preview' in read) return read.preview;
  const { sentence, param } = read.unreadable;
  throw new AppError('invalid_request', { publicMessage: sentence, param });
}
