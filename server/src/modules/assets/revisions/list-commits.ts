import type { Database } from '../../../platform/db/database.ts';
import type { AssetRow } from '../queries.ts';
import { selectCommitIds, selectCommitsDown, selectLastCommits } from './commit-queries.ts';
import { type Commit, emptyCommit } from './find-commit.ts';

/** A commit and those before it, newest first. The last of them is the asset before its first file. */
export async function listCommits(
  db: Database,
  asset: AssetRow,
  { from, limit }: { from: number; limit: number },
): Promise<Commit[]> {
  if (from < 0) return [];
  const rows = await selectCommitsDown(db, { assetId: asset.id, from, limit });
  return rows.length < limit ? [...rows, emptyCommit(asset)] : rows;
}

/** The commits that brought these files of a revision, by their paths. */
export async function findLastCommits(
  db: Database,
  of: { assetId: string; number: number; paths: string[] },
): Promise<Map<string, Commit>> {
  const rows = await selectLastCommits(db, of);
  return new Map(rows.map(({ path, ...commit }) => [path, commit]));
}

/** The commit's id of each revision. */
export async function findCommitIds(db: Database, revisionIds: string[]): Promise<Map<string, string>> {
  const rows = await selectCommitIds(db, revisionIds);
  return new Map(rows.map(({ id, commitId }) => [id, commitId]));
}
