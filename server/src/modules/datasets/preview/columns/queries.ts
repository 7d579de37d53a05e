import { type FileColumns, fileColumns } from '@bakehouse/contract/data-files';
import { sql } from 'kysely';
import { type Database, toJson } from '../../../../platform/db/database.ts';

type Bytes = { sha256: string; ending: string };

/** What these bytes, read by this ending, were found to hold; null while nobody has looked, or only an earlier version of this program. */
export async function selectColumns(db: Database, { sha256, ending }: Bytes): Promise<FileColumns | null> {
  const row = await db
    .selectFrom('column_statistics')
    .select('statistics')
    .where('sha256', '=', sha256)
    .where('ending', '=', ending)
    .executeTakeFirst();
  return fileColumns.safeParse(row?.statistics).data ?? null;
}

/** Keeps it as long as there are the bytes. */
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
