import { type RawBuilder, sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { type FileRow, fileColumns, newestFiles } from '../queries.ts';

/* Files by folder, of the newest revision unless a number says of which. Each folder is a range of the index by path. */

const columns = sql.join(fileColumns.map((name) => sql.ref(name)));

/** The revision whose files are read: its number, or nothing for the newest. */
type OfRevision = { number?: number | undefined };

/** The files of a revision from a path on, at most so many. */
function filesFrom(assetId: string, { number }: OfRevision, from: RawBuilder<unknown>, most: number) {
  return number === undefined
    ? sql`newest_files(${assetId}, ${from}, ${most})`
    : sql`revision_files(${assetId}, ${number}, ${from}, ${most})`;
}

/**
 * Files behind `after` in the order of their paths: the one of this path, or those below it,
 * and of these those whose path begins with `prefix`.
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
  // Paths that begin alike stand together, and behind a path comes at first that path with the least character.
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

/** Which files are the newest: those of main, or of the branch whose range has this end. */
type OfBranch = { end?: number | null | undefined };

function isNewest({ end = null }: OfBranch) {
  return end === null ? sql`last_number is null` : sql`last_number = ${end}`;
}

/** The files of the newest revision in these folders, none of which is in another, each with its folder. */
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

/** The file of the newest revision whose path is that of a folder of `path`. */
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
 * A path that would be a file and a folder: one of `folders` that is a file, or of `paths` that is a folder, without those
 * files that are removed.
 */
export async function findClash(
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

/** How many files there are at or below a path, which is not empty, in all, and their bytes. */
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

/** A range of the index by path: `0` is what follows the slash. */
function isInFolder(folder: string) {
  return sql<boolean>`(path >= ${`${folder}/`} and path < ${`${folder}0`})`;
}

/** A file or a folder; of a folder all that is known is its path. */
export type TreeRow = { path: string; file: FileRow | null };

/**
 * What lies directly in a folder, from `start` on in the order of their paths. Each folder in it takes one step over
 * the index, however many files it has.
 */
export async function listTree(
  db: Database,
  assetId: string,
  { folder, start, limit, ...of }: { folder: string; start: string; limit: number } & OfRevision,
): Promise<TreeRow[]> {
  const prefix = folder === '' ? '' : `${folder}/`;
  const end = folder === '' ? null : `${folder}0`;
  // In characters, as the database counts.
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
