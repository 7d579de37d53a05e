import { type FileColumns, fileColumns } from '@bakehouse/contract/data-files';
import { sql } from 'kysely';
import * as z from 'zod';
import type { Context } from '../../../../platform/context.ts';
import { type Database, toJson } from '../../../../platform/db/database.ts';
import { storableJson } from '../../../../platform/db/storable-text.ts';
import { findFile } from '../../../assets/files/files.ts';
import { extensionOf, isPacked, unpackedName } from '../../data-file.ts';
import { type DataFileRequest, readConfined, WHOLE_FILE_CPU_SECONDS } from '../../preview-file.ts';

const PROGRAM = new URL('./read-columns-program.ts', import.meta.url);
const answer = z.object({ columns: fileColumns });

/**
 * Returns statistics of a data file's columns, cached per file content. Throws AppError like `previewFile`.
 */
export async function describeColumns(
  ctx: Context,
  { assetId, path, revisionId, signal }: DataFileRequest,
): Promise<FileColumns> {
  const file = await findFile(ctx, { assetId, revisionId, path });
  const ending = isPacked(path) ? `${extensionOf(unpackedName(path))}.gz` : extensionOf(path);
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

type Bytes = { sha256: string; ending: string };

/**
 * Returns the cached statistics for these bytes and this extension. Null if they were never computed, or were
 * computed by an earlier version of this code.
 */
async function selectColumns(db: Database, { sha256, ending }: Bytes): Promise<FileColumns | null> {
  const row = await db
    .selectFrom('column_statistics')
    .select('statistics')
    .where('sha256', '=', sha256)
    .where('ending', '=', ending)
    .executeTakeFirst();
  return fileColumns.safeParse(row?.statistics).data ?? null;
}

/** Stores the statistics for as long as the bytes exist. */
async function insertColumns(db: Database, { sha256, ending }: Bytes, columns: FileColumns): Promise<void> {
  await sql`
    insert into column_statistics (sha256, ending, statistics)
    select sha256, ${ending}, ${toJson(columns)}::jsonb from blobs where sha256 = ${sha256} for key share
    on conflict (sha256, ending) do update set statistics = excluded.statistics`.execute(db);
}
