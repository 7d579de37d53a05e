import type { Database } from '../../../platform/db/database.ts';
import type { AssetRow } from '../queries.ts';
import { listBranches, startOf } from './branches.ts';
import { selectCommitIds, selectCommitsDown, selectLastCommits } from './commit-queries.ts';
import { type Commit, emptyCommit } from './find-commit.ts';

/**
 * A commit and those before it, newest first, without the first `skip`. The last of them is the asset before its first file.
 * Those of a branch come before those of main.
 */
export async function listCommits(
  db: Database,
  asset: AssetRow,
  { from, skip = 0, limit }: { from: number; skip?: number; limit: number },
): Promise<Commit[]> {
  if (from < 0) return listBranchCommits(db, asset, { from, skip, limit });
  // Their numbers have no gaps.
  const first = from - skip;
  if (first < 0) return [];
  const rows = await selectCommitsDown(db, { assetId: asset.id, from: first, above: 0, limit });
  return rows.length < limit ? [...rows, emptyCommit(asset)] : rows;
}

async function listBranchCommits(
  db: Database,
  asset: AssetRow,
  { from, skip, limit }: { from: number; skip: number; limit: number },
): Promise<Commit[]> {
  const start = startOf(from);
  const rows = await selectCommitsDown(db, { assetId: asset.id, from: from - skip, above: start, limit });
  const branch = (await listBranches(db, asset.id)).find(({ start_number }) => start_number === start);
  if (rows.length === limit || !branch) return rows;
  const rest = { skip: Math.max(0, skip - (from - start)), limit: limit - rows.length };
  return [...rows, ...(await listCommits(db, asset, { from: branch.fork_number, ...rest }))];
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
