import { type FileColumns, fileColumns } from '@bakehouse/contract/data-files';
import * as z from 'zod';
import type { Context } from '../../../../platform/context.ts';
import { storableJson } from '../../../../platform/db/storable-text.ts';
import { findFile } from '../../../assets/files/find-file.ts';
import { endingOf, isPacked, unpackedName } from '../../data-file.ts';
import { type AskedFile, readConfined, WHOLE_FILE_CPU_SECONDS } from '../read-confined.ts';
import { insertColumns, selectColumns } from './queries.ts';

const PROGRAM = new URL('./read-columns-program.ts', import.meta.url);
const answer = z.object({ columns: fileColumns });

/**
 * Returns statistics of a data file's columns, cached per file content. Throws AppError like `previewFile`.
 */
export async function describeColumns(
  ctx: Context,
  { assetId, path, revisionId, signal }: AskedFile,
): Promise<FileColumns> {
  const file = await findFile(ctx, { assetId, revisionId, path });
  const ending = isPacked(path) ? `${endingOf(unpackedName(path))}.gz` : endingOf(path);
  const bytes = { sha256: file.sha256, ending };
  const known = await selectColumns(ctx.db, bytes);
  if (known) return known;
  const { columns } = answer.parse(
    await readConfined(ctx, file, {
      program: PROGRAM,
      input: { name: path },
      signal,
      cpuSeconds: WHOLE_FILE_CPU_SECONDS,
    }),
  );
  const clean = storableJson(columns);
  await insertColumns(ctx.db, bytes, clean);
  return clean;
}
