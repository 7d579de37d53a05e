import { type RowPictures, rowPictures } from '@bakehouse/contract/data-files';
import * as z from 'zod';
import type { Context } from '../../../../platform/context.ts';
import { findFile } from '../../../assets/files/find-file.ts';
import { type AskedFile, readConfined } from '../read-confined.ts';

const PROGRAM = new URL('./read-pictures-program.ts', import.meta.url);
/** Enough for a hundred pictures of a few megapixels each. */
const CPU_SECONDS = 60;
const answerSchema = z.object({ pictures: rowPictures });

/** Returns thumbnails of the pictures in a column for some rows. Throws AppError like `previewFile`. */
export async function showPictures(
  ctx: Context,
  {
    assetId,
    path,
    revisionId,
    signal,
    ...page
  }: AskedFile & { column: string; offset: number; limit: number },
): Promise<RowPictures> {
  const file = await findFile(ctx, { assetId, revisionId, path });
  const input = { name: path, ...page };
  const read = await readConfined(ctx, file, { program: PROGRAM, input, signal, cpuSeconds: CPU_SECONDS });
  return answerSchema.parse(read).pictures;
}
