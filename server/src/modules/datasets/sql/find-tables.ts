import type { SqlTables } from '@bakehouse/contract/sql';
import type { Context } from '../../../platform/context.ts';
import { readRevision } from '../../assets/read-revision.ts';
import { DATA_FILE_PATTERN, hasRows } from '../data-file.ts';
import { nameTables, type Table } from '../duckdb/name-tables.ts';

/** Maximum number of files that become tables. */
const FILES_MAX = 1000;

export type StoredFile = { path: string; sha256: string; sizeBytes: number };
export type AskedRevision = { assetId: string; revisionId?: string | undefined };

/**
 * Returns the tables of a revision, the newest by default. Throws AppError('not_found') unless the caller may
 * read it, and 'conflict' if it has no files yet.
 */
export async function findTables(
  ctx: Context,
  { assetId, revisionId }: AskedRevision,
): Promise<{ tables: Table<StoredFile>[]; hasMore: boolean }> {
  const { files } = await readRevision(ctx.db, {
    assetId,
    ...(revisionId && { revisionId }),
    userId: ctx.caller.userId,
    matching: DATA_FILE_PATTERN,
    limit: FILES_MAX + 1,
  });
  const data = files.slice(0, FILES_MAX).filter(({ path }) => hasRows(path));
  return { tables: nameTables(data), hasMore: files.length > FILES_MAX };
}

/** Returns the tables that SQL can query. */
export async function listTables(ctx: Context, asked: AskedRevision): Promise<SqlTables> {
  const { tables, hasMore } = await findTables(ctx, asked);
  return {
    tables: tables.map(({ name, files }) => ({
      name,
      paths: files.map(({ path }) => path),
      size_bytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    })),
    has_more: hasMore,
  };
}
