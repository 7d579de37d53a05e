import { type RawBuilder, sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { type FileRow, fileColumns, newestFiles } from '../queries.ts';

/* Files by folder, by default in the newest revision. Each folder is a range of the index by path. */

const columns = sql.join(fileColumns.map((name) => sql.ref(name)));

/** The number of the revision to read; the newest if absent. */
type OfRevision = { number?: number | undefined };

/** Returns SQL that reads up to `most` files of a revision, starting at the path `from`. */
function filesFrom(assetId: string, { number }: OfRevision, from: RawBuilder<unknown>, most: number) {
  return number === undefined
    ? sql`newest_files(${assetId}, ${from}, ${most})`
    : sql`revision_files(${assetId}, ${number}, ${from}, ${most})`;
}

/**
 * Returns the file at `path`, or the files below it, in path order. Only paths after `after` that start with
 * `prefix`.
 */
export async function listFilesBelow(
  db: Database | Transaction,
  assetId: string,
  {
    path,
    prefix,
    after,
    limit,
    ...of
  }: { path: string; prefix: string; after: string | null; limit: number } & OfRevision,
): Promise<FileRow[]> {
  const start = path === '' ? '' : `${path}/`;
  // Paths with one prefix are adjacent in the index. The smallest path after `after` is `after` plus the
  // lowest character.
  const from = sql`greatest(${start} collate "C", ${prefix}, ${after ?? ''} || chr(1))`;
  const { rows } = await sql<FileRow>`
    select ${columns} from ${filesFrom(assetId, of, sql`${path}`, 1)}
    where path = ${path} and starts_with(path, ${prefix}) and (${after}::text is null or path > ${after})
    union all
    select ${columns} from ${filesFrom(assetId, of, from, limit)}
    where starts_with(path, ${start}) and starts_with(path, ${prefix})
    order by path limit ${limit}`.execute(db);
  return rows;
}

/** Selects the newest files of a branch by the last number of its range, `end`; of main if `end` is null. */
type OfBranch = { end?: number | null | undefined };

function isNewest({ end = null }: OfBranch) {
  return end === null ? sql`last_number is null` : sql`last_number = ${end}`;
}

/** Returns the newest files in these folders, each with its folder. The folders must not be nested. */
export async function listFilesInFolders(
  tx: Transaction,
  assetId: string,
  { folders, ...of }: { folders: string[] } & OfBranch,
): Promise<{ folder: string; path: string }[]> {
  const { rows } = await sql<{ folder: string; path: string }>`
    select folder, path from unnest(${folders}::text[]) as folder
    join asset_files on asset_id = ${assetId} and ${isNewest(of)}
      and path > folder || '/' and path < folder || '0'`.execute(tx);
  return rows;
}

/** Returns the newest file whose path is a parent folder of `path`. */
export async function findFileAbove(
  db: Database | Transaction,
  assetId: string,
  path: string,
): Promise<string | undefined> {
  const parts = path.split('/');
  const folders = parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
  const file = await newestFiles(db, assetId)
    .select('path')
    .where(sql<boolean>`path = any(${folders}::text[])`)
    .executeTakeFirst();
  return file?.path;
}

/**
 * Returns a path that would be both a file and a folder: an existing file among `folders`, or an existing
 * folder among `paths`. Ignores files in `removed`.
 */
export async function findPathConflict(
  tx: Transaction,
  assetId: string,
  { paths, folders, removed, ...of }: { paths: string[]; folders: string[]; removed: string[] } & OfBranch,
): Promise<string | undefined> {
  const { rows } = await sql<{ path: string }>`
    select path from asset_files
    where asset_id = ${assetId} and ${isNewest(of)}
      and path = any(${folders}::text[]) and not path = any(${removed}::text[])
    union all
    select wanted from unnest(${paths}::text[]) as wanted
    where exists (
      select from asset_files
      where asset_id = ${assetId} and ${isNewest(of)}
        and path > wanted || '/' and path < wanted || '0' and not path = any(${removed}::text[])
    )
    limit 1`.execute(tx);
  return rows[0]?.path;
}

/** Returns the number and total bytes of the files at or below a path, which must not be empty. */
export async function countFilesBelow(
  db: Database,
  assetId: string,
  path: string,
): Promise<{ count: number; bytes: number }> {
  const within = sql<boolean>`(path = ${path} or ${isInFolder(path)})`;
  const { count, bytes } = await newestFiles(db, assetId)
    .select([
      sql<bigint>`count(*)`.as('count'),
      sql<bigint>`coalesce(sum(size_bytes), 0)::bigint`.as('bytes'),
    ])
    .where(within)
    .executeTakeFirstOrThrow();
  return { count: Number(count), bytes: Number(bytes) };
}

/** A range of the index by path: `0` is the character after the slash. */
function isInFolder(folder: string) {
  return sql<boolean>`(path >= ${`${folder}/`} and path < ${`${folder}0`})`;
}

/** A file or a folder; only the path of a folder is known. */
export type TreeRow = { path: string; file: FileRow | null };

/**
 * Lists the direct children of a folder from `start` on, in path order. Each subfolder costs one index
 * lookup, however many files it contains.
 */
export async function listTree(
  db: Database,
  assetId: string,
  { folder, start, limit, ...of }: { folder: string; start: string; limit: number } & OfRevision,
): Promise<TreeRow[]> {
  const prefix = folder === '' ? '' : `${folder}/`;
  const end = folder === '' ? null : `${folder}0`;
  // Count code points, because the database counts a string's length in code points.
  const rest = Array.from(prefix).length + 1;
  const nextFrom = (bound: RawBuilder<unknown>) => sql`
    select ${columns} from ${filesFrom(assetId, of, bound, 1)} where ${end}::text is null or path < ${end}`;
  const { rows } = await sql<FileRow & { name: string; in_folder: boolean }>`
    with recursive walk as (
      select *, 1 as n from (${nextFrom(sql`${start}`)}) as first
      union all
      select next.*, walk.n + 1 from walk cross join lateral (${nextFrom(sql`
        case when strpos(substr(walk.path, ${rest}), '/') = 0 then walk.path || chr(1)
          else ${prefix} || split_part(substr(walk.path, ${rest}), '/', 1) || '0' end`)}) as next
      where walk.n < ${limit}
    )
    select path, sha256, size_bytes, uploaded_at,
      ${prefix} || split_part(substr(path, ${rest}), '/', 1) as name,
      strpos(substr(path, ${rest}), '/') > 0 as in_folder
    from walk order by path`.execute(db);
  return rows.map(({ name, in_folder, ...file }) => ({ path: name, file: in_folder ? null : file }));
}
