import { filePreview } from '@bakehouse/contract/assets';
import * as z from 'zod';
import type { Context } from '../../../platform/context.ts';
import { findFile } from '../../assets/files/files.ts';
import { type DataFileRequest, readConfined } from './read-confined.ts';
import type { Page, Preview } from './read-preview.ts';

const PROGRAM = new URL('./read-preview-program.ts', import.meta.url);
const answer = z.object({ preview: filePreview });

/**
 * Returns a page of rows of a data file, from the newest revision by default. Throws
 * AppError('invalid_request') for other kinds of file, unreadable files and exceeded limits; 'unavailable' if
 * the user has too many requests waiting; and the signal's reason on abort.
 */
export async function previewFile(
  ctx: Context,
  { assetId, path, revisionId, signal, ...page }: DataFileRequest & Page,
): Promise<Preview> {
  const file = await findFile(ctx, { assetId, revisionId, path });
  const input = { name: path, offset: page.offset, limit: page.limit };
  return answer.parse(await readConfined(ctx, file, { program: PROGRAM, input, signal })).preview;
}
