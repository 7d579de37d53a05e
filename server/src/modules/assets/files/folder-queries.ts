import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database } from '../../../platform/db/database.ts';
import { type FileRow, fileColumns, newestFiles } from '../queries.ts';

/* Files of the newest revision by folder. Each folder is a range of the index by path. */

/**
 * Files of the newest revision behind `after` in the order of their paths: the one of this path, or those below it,
 * and of these those whose path begins with `prefix`.
 */
export async function listFilesBelow(
  db: Database,
  assetId: string,
  { path, prefix, after, limit }: { path: string; prefix: string; after: string | null; limit: number },
): Promise<FileRow[]> {
  const page = (range: Expression<SqlBool>) => {
    let query = newestFiles(db, assetId).select(fileColumns).where(range);
    if (prefix !== '') query = query.where(beginsWith(prefix));
    if (after !== null) query = query.where('path', '>', after);
    return db.selectFrom(query.orderBy('path').limit(limit).as('page')).selectAll();
  };
  if (path === '') return page(sql`true`).orderBy('path').execute();
  return page(sql`path = ${path}`)
    .unionAll(page(isInFolder(path)))
    .orderBy('path')
    .limit(limit)
    .execute();
}

/** How many files there are below a path in all, and their bytes. */
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
    .where(path === '' ? sql<boolean>`true` : within)
    .executeTakeFirstOrThrow();
  return { count: Number(count), bytes: Number(bytes) };
}

/** A range of the index by path: `0` is what follows the slash. */
function isInFolder(folder: string) {
  return sql<boolean>`(path >= ${`${folder}/`} and path < ${`${folder}0`})`;
}

/** A range of the index by path: behind all that begins so comes the last character that there is. */
function beginsWith(prefix: string) {
  return sql<boolean>`(path >= ${prefix} and path < ${`${prefix}\u{10ffff}`})`;
}

/** A file or a folder of the newest revision; of a folder all that is known is its path. */
export type TreeRow = { path: string; file: FileRow | null };

/**
 * What lies directly in a folder, from `start` on in the order of their paths. Each folder in it takes one step over
 * the index, however many files it has.
 */
export async function listTree(
  db: Database,
  assetId: string,
  { folder, start, limit }: { folder: string; start: string; limit: number },
): Promise<TreeRow[]> {
  const prefix = folder === '' ? '' : `${folder}/`;
  const end = folder === '' ? null : `${folder}0`;
  // In characters, as the database counts.
  const rest = Array.from(prefix).length + 1;
  const nextFrom = (bound: RawBuilder<unknown>) => sql`
    select path, sha256, size_bytes, uploaded_at from asset_files
    where asset_id = ${assetId} and last_number is null and path >= ${bound}
      and (${end}::text is null or path < ${end})
    order by path limit 1`;
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
