import { type FoundRows, foundRows } from '@bakehouse/contract/data-files';
import * as z from 'zod';
import type { Context } from '../../../../platform/context.ts';
import { findFile } from '../../../assets/files/files.ts';
import { type DataFileRequest, readConfined, WHOLE_FILE_CPU_SECONDS } from '../../preview-file.ts';
import type { Search } from './search-data-file.ts';

const PROGRAM = new URL('./read-found-program.ts', import.meta.url);
const answer = z.object({ found: foundRows });

/**
 * Returns the rows of a data file that contain a text, from the newest revision by default. Throws AppError
 * like `previewFile`.
 */
export async function searchRows(
  ctx: Context,
  { assetId, path, revisionId, signal, ...search }: DataFileRequest & Search,
): Promise<FoundRows> {
  const file = await findFile(ctx, { assetId, revisionId, path });
  const input = { name: path, ...search };
  return answer.parse(
    await readConfined(ctx, file, {
      ...{ program: PROGRAM, input, signal, cpuSeconds: WHOLE_FILE_CPU_SECONDS },
      needsFormat: true,
    }),
  ).found;
}
