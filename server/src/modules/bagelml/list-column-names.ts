import type { Context } from '../../platform/context.ts';
import { previewFile } from '../datasets/preview/preview-file.ts';

/** Returns the column names of a data file. Throws the errors of `previewFile`. */
export async function listColumnNames(
  ctx: Context,
  { assetId, path }: { assetId: string; path: string },
): Promise<string[]> {
  return (await previewFile(ctx, { assetId, path, offset: 0, limit: 1 })).columns;
}
