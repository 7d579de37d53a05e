import { type FileColumns, fileColumns } from '@bakehouse/contract/data-files';
import { sql } from 'kysely';
import { type Database, toJson } from '../../../../platform/db/database.ts';

type Bytes = { sha256: string; ending: string };

/**
 * Returns the cached statistics for these bytes and this extension; null if they were never computed, or only
 * by an earlier version.
 */
export async function selectColumns(db: Database, { sha256, ending }: Bytes): Promise<FileColumns | null> {
  const row = await db
    .selectFrom('column_statistics')
    .select('statistics')
    .where('sha256', '=', sha256)
    .where('ending', '=', ending)
    .executeTakeFirst();
  return fileColumns.safeParse(row?.statistics).data ?? null;
}

/** Stores the statistics for as long as the bytes exist. */
export async function insertColumns(
  db: Database,
  { sha256, ending }: Bytes,
  columns: FileColumns,
): Promise<void> {
  await sql`
    insert into column_statistics (sha256, ending, statistics)
    select sha256, ${ending}, ${toJson(columns)}::jsonb from blobs where sha256 = ${sha256} for key share
    on conflict (sha256, ending) do update set statistics = excluded.statistics`.execute(db);
}
