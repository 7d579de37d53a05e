import { type Insertable, sql, type Updateable } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import type { DB } from '../../../platform/db/schema.generated.ts';
import type { RepoFile } from '../public/hub-client.ts';
import { type CloneRow, toRow } from './clones-table.ts';

type Db = Database | Transaction;
type Own = { id: string; userId: string };

/** Inserts a clone; null if the user is already cloning this repository. */
export async function insertClone(
  tx: Transaction,
  row: Insertable<DB['hub_clones']>,
): Promise<CloneRow | null> {
  const inserted = await tx
    .insertInto('hub_clones')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst();
  return inserted ? toRow(inserted) : null;
}

/** Returns the user's running clone of a repository. */
export async function findOpenClone(
  db: Db,
  { userId, repoId, datasetType }: { userId: string; repoId: string; datasetType: string },
): Promise<CloneRow | undefined> {
  const row = await db
    .selectFrom('hub_clones')
    .selectAll()
    .where('user_id', '=', userId)
    .where('repo_id', '=', repoId)
    .where('dataset_type', '=', datasetType)
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  return row && toRow(row);
}

export async function findClone(db: Db, { id, userId }: Own): Promise<CloneRow | undefined> {
  const row = await db
    .selectFrom('hub_clones')
    .selectAll()
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row && toRow(row);
}

/** Locks and returns the user's clone until the transaction ends. */
export async function lockClone(tx: Transaction, { id, userId }: Own): Promise<CloneRow | undefined> {
  const row = await tx
    .selectFrom('hub_clones')
    .selectAll()
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .forUpdate()
    .executeTakeFirst();
  return row && toRow(row);
}

type Filter = {
  userId: string;
  /** Only clones that are running or have ended since. */
  endedSince?: Date | undefined;
  cursor?: string | undefined;
  limit: number;
};

/** Returns clones, newest first. */
export async function selectClones(
  db: Db,
  { userId, endedSince, cursor, limit }: Filter,
): Promise<CloneRow[]> {
  let query = db.selectFrom('hub_clones').selectAll().where('user_id', '=', userId);
  if (endedSince !== undefined)
    query = query.where(sql<boolean>`coalesce(ended_at, 'infinity') >= ${endedSince}`);
  if (cursor !== undefined) query = query.where('id', '<', cursor);
  return (await query.orderBy('id', 'desc').limit(limit).execute()).map(toRow);
}

/** Serialises starts of the user's clones until the transaction ends, so that the limit holds. */
export async function lockOpenClones(tx: Transaction, userId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`clones ${userId}`}, 0))`.execute(tx);
}

export async function countOpenClones(db: Db, userId: string): Promise<number> {
  const { count } = await db
    .selectFrom('hub_clones')
    .select((select) => select.fn.countAll<bigint>().as('count'))
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

export async function updateClone(
  tx: Transaction,
  id: string,
  values: Updateable<DB['hub_clones']>,
): Promise<void> {
  await tx.updateTable('hub_clones').set(values).where('id', '=', id).execute();
}

/**
 * Returns the next clone to copy: of the users with the fewest running clones, the oldest clone without a
 * lease. Null if none is due.
 */
export async function findNextClone(
  tx: Transaction,
  { now, perUser, atWork }: { now: Date; perUser: number; atWork: readonly string[] },
): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`
    with work as (
      select user_id, count(*) as clones from hub_clones
      where ended_at is null and locked_until > ${now} group by user_id
    )
    select c.id from hub_clones c left join work on work.user_id = c.user_id
    where c.ended_at is null and c.check_at <= ${now} and (c.locked_until is null or c.locked_until <= ${now})
      and c.id <> all (${atWork}::uuid[]) and coalesce(work.clones, 0) < ${perUser}
    order by coalesce(work.clones, 0), c.id limit 1 for update of c skip locked`.execute(tx);
  return rows[0]?.id ?? null;
}

// Files

export type CloneFile = RepoFile & { uploadId: string | null; isCopied: boolean };

/** Replaces the files of a clone in one statement. */
export async function insertFiles(
  tx: Transaction,
  cloneId: string,
  files: readonly RepoFile[],
): Promise<void> {
  await sql`
    insert into hub_clone_files (clone_id, path, size_bytes, sha256, git_sha1)
    select ${cloneId}, path, size_bytes, sha256, git_sha1
    from unnest(
      ${files.map(({ path }) => path)}::text[],
      ${files.map(({ sizeBytes }) => sizeBytes)}::bigint[],
      ${files.map(({ sha256 }) => sha256)}::text[],
      ${files.map(({ gitSha1 }) => gitSha1)}::text[]
    ) as file (path, size_bytes, sha256, git_sha1)`.execute(tx);
}

/** Returns the files, smallest first, so that a model's configuration is copied before its weights. */
export async function selectFiles(db: Db, cloneId: string): Promise<CloneFile[]> {
  const rows = await db
    .selectFrom('hub_clone_files')
    .select(['path', 'size_bytes', 'sha256', 'git_sha1', 'upload_id', 'is_copied'])
    .where('clone_id', '=', cloneId)
    .orderBy('size_bytes')
    .orderBy('path')
    .execute();
  return rows.map((row) => ({
    path: row.path,
    sizeBytes: Number(row.size_bytes),
    sha256: row.sha256,
    gitSha1: row.git_sha1,
    uploadId: row.upload_id,
    // The bytes of a copied file were deleted if its upload was deleted.
    isCopied: row.is_copied && (row.upload_id !== null || row.size_bytes === 0n),
  }));
}

/** Returns the copied files with their hashes; the hash of an empty file is null. */
export async function selectCopied(
  db: Db,
  cloneId: string,
): Promise<{ path: string; sizeBytes: number; sha256: string | null }[]> {
  const rows = await db
    .selectFrom('hub_clone_files as f')
    .leftJoin('uploads', 'uploads.id', 'f.upload_id')
    .select(['f.path', 'f.size_bytes', 'uploads.sha256'])
    .where('f.clone_id', '=', cloneId)
    .orderBy('f.path')
    .execute();
  return rows.map(({ path, size_bytes, sha256 }) => ({ path, sizeBytes: Number(size_bytes), sha256 }));
}

/** Records the upload of a file. Returns false if the lease of its clone was lost. */
export async function setUpload(
  tx: Transaction,
  { id, token }: { id: string; token: string },
  { path, uploadId }: { path: string; uploadId: string },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update hub_clone_files f set upload_id = ${uploadId}, is_copied = false
    from (select id from hub_clones where id = ${id} and lock_token = ${token} for share) as clone
    where f.clone_id = clone.id and f.path = ${path}`.execute(tx);
  return numAffectedRows === 1n;
}

/** Records that a file is complete and verified. */
export async function markCopied(
  db: Db,
  cloneId: string,
  { path, uploadId }: { path: string; uploadId: string | null },
): Promise<void> {
  await db
    .updateTable('hub_clone_files')
    .set({ is_copied: true })
    .where('clone_id', '=', cloneId)
    .where('path', '=', path)
    .where(sql<boolean>`upload_id is not distinct from ${uploadId}`)
    .execute();
}

/** Deletes the files of a clone and returns their uploads. */
export async function deleteFiles(tx: Transaction, cloneId: string): Promise<string[]> {
  const rows = await tx
    .deleteFrom('hub_clone_files')
    .where('clone_id', '=', cloneId)
    .returning('upload_id')
    .execute();
  return rows.flatMap(({ upload_id }) => upload_id ?? []);
}

/** Returns clones that ended before the given time and still have files. */
export async function selectEndedWithFiles(db: Db, before: Date, limit: number): Promise<Own[]> {
  const { rows } = await sql<Own>`
    select id, user_id as "userId" from hub_clones c
    where ended_at < ${before} and exists (select from hub_clone_files f where f.clone_id = c.id)
    order by ended_at limit ${limit}`.execute(db);
  return rows;
}

// Log

export async function insertLines(db: Db, cloneId: string, lines: readonly string[]): Promise<void> {
  await sql`
    insert into hub_clone_lines (clone_id, line)
    select ${cloneId}, line from unnest(${lines}::text[]) with ordinality as given (line, place) order by place`.execute(
    db,
  );
}

/** Returns the last lines, in order. */
export async function selectLines(db: Db, cloneId: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('hub_clone_lines')
    .select('line')
    .where('clone_id', '=', cloneId)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ line }) => line).reverse();
}

// Account deletion

export async function deleteClonesOf(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('hub_clones').where('user_id', '=', userId).execute();
}
