import { sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';

/** Selects revisions as commits, each with its author's name. */
function selectCommits(db: Database | Transaction, assetId: string) {
  return db
    .selectFrom('revisions')
    .leftJoin('users', 'users.id', 'revisions.author_user_id')
    .select([
      'revisions.id as revisionId',
      'revisions.number',
      'revisions.commit_id as commitId',
      'revisions.created_at as createdAt',
      'revisions.message',
      'users.username as author',
    ])
    .where('revisions.asset_id', '=', assetId);
}

type CommitRow = Awaited<ReturnType<typeof findByRevision>>;

export async function findByRevision(db: Database | Transaction, assetId: string, revisionId: string) {
  return selectCommits(db, assetId).where('revisions.id', '=', revisionId).executeTakeFirstOrThrow();
}

export async function findByNumber(db: Database | Transaction, assetId: string, number: number) {
  return selectCommits(db, assetId).where('revisions.number', '=', number).executeTakeFirstOrThrow();
}

export async function findByCommitId(db: Database | Transaction, assetId: string, commitId: string) {
  return selectCommits(db, assetId).where('revisions.commit_id', '=', commitId).executeTakeFirst();
}

export async function findByTag(db: Database | Transaction, assetId: string, tag: string) {
  return selectCommits(db, assetId)
    .innerJoin('revision_tags', (join) =>
      join
        .onRef('revision_tags.revision_id', '=', 'revisions.id')
        .onRef('revision_tags.asset_id', '=', 'revisions.asset_id'),
    )
    .where('revision_tags.name', '=', tag)
    .executeTakeFirst();
}

/** Returns commits in descending order, with numbers up to `from` and above `above`. */
export async function selectCommitsDescending(
  db: Database | Transaction,
  { assetId, from, above, limit }: { assetId: string; from: number; above: number; limit: number },
): Promise<CommitRow[]> {
  return selectCommits(db, assetId)
    .where('revisions.number', '<=', from)
    .where('revisions.number', '>', above)
    .orderBy('revisions.number', 'desc')
    .limit(limit)
    .execute();
}

/** Returns the commits that added these files, by path, for files in the revision with this number. */
export async function selectLastCommits(
  db: Database,
  { assetId, number, paths }: { assetId: string; number: number; paths: string[] },
): Promise<(CommitRow & { path: string })[]> {
  if (paths.length === 0) return [];
  return selectCommits(db, assetId)
    .innerJoin('asset_files', (join) =>
      join
        .onRef('asset_files.asset_id', '=', 'revisions.asset_id')
        .onRef('asset_files.first_number', '=', 'revisions.number'),
    )
    .select('asset_files.path')
    .where('asset_files.path', 'in', paths)
    .where('asset_files.first_number', '<=', number)
    .where((eb) =>
      eb.or([eb('asset_files.last_number', 'is', null), eb('asset_files.last_number', '>=', number)]),
    )
    .execute();
}

export async function selectCommitIds(
  db: Database,
  revisionIds: string[],
): Promise<{ id: string; commitId: string }[]> {
  return db
    .selectFrom('revisions')
    .select(['id', 'commit_id as commitId'])
    .where('id', '=', sql<string>`any(${revisionIds}::uuid[])`)
    .execute();
}

/** Returns tags with their commits, by name. */
export async function selectTags(
  db: Database,
  assetId: string,
): Promise<{ name: string; commitId: string }[]> {
  return db
    .selectFrom('revision_tags')
    .innerJoin('revisions', 'revisions.id', 'revision_tags.revision_id')
    .select(['revision_tags.name', 'revisions.commit_id as commitId'])
    .where('revision_tags.asset_id', '=', assetId)
    .orderBy('revision_tags.name')
    .execute();
}

/** Returns the tags of these revisions, by name. */
export async function selectTagsOf(
  db: Database,
  revisionIds: string[],
): Promise<{ name: string; revisionId: string }[]> {
  return db
    .selectFrom('revision_tags')
    .select(['name', 'revision_id as revisionId'])
    .where('revision_id', '=', sql<string>`any(${revisionIds}::uuid[])`)
    .orderBy('name')
    .execute();
}

export async function insertTag(
  tx: Transaction,
  tag: { assetId: string; name: string; revisionId: string; message: string },
): Promise<void> {
  await tx
    .insertInto('revision_tags')
    .values({ asset_id: tag.assetId, name: tag.name, revision_id: tag.revisionId, message: tag.message })
    .execute();
}

/** Returns false if there is no such tag. */
export async function deleteTag(tx: Transaction, assetId: string, name: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('revision_tags')
    .where('asset_id', '=', assetId)
    .where('name', '=', name)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}
