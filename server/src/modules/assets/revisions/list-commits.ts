import type { Database } from '../../../platform/db/database.ts';
import type { AssetRow } from '../queries.ts';
import { type Branch, listBranches, startOf } from './branches.ts';
import { selectCommitIds, selectCommitsDown, selectLastCommits } from './commit-queries.ts';
import { type Commit, emptyCommit } from './find-commit.ts';

/**
 * Returns a commit and its ancestors, newest first, without the first `skip`. The last is the asset before
 * its first file. Commits of a branch precede commits of main.
 */
export async function listCommits(
  db: Database,
  asset: AssetRow,
  { from, skip = 0, limit }: { from: number; skip?: number; limit: number },
): Promise<Commit[]> {
  if (from < 0) return listBranchCommits(db, asset, { from, skip, limit });
  // Numbers have no gaps.
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
  const branch = await findBranchOf(db, asset.id, from);
  if (rows.length === limit || !branch) return rows;
  const rest = { skip: Math.max(0, skip - (from - start)), limit: limit - rows.length };
  return [...rows, ...(await listCommits(db, asset, { from: branch.fork_number, ...rest }))];
}

async function findBranchOf(db: Database, assetId: string, number: number): Promise<Branch | undefined> {
  return (await listBranches(db, assetId)).find((branch) => branch.start_number === startOf(number));
}

/** Returns the commit that added or last changed each of these files of a revision, by path. */
export async function findLastCommits(
  db: Database,
  of: { assetId: string; number: number; paths: string[] },
): Promise<Map<string, Commit>> {
  const rows = await selectLastCommits(db, of);
  const found = new Map<string, Commit>(rows.map(({ path, ...commit }) => [path, commit]));
  if (of.number >= 0) return found;
  // The branch inherits its other files from the commit of main at which it started.
  const fork = (await findBranchOf(db, of.assetId, of.number))?.fork_number ?? 0;
  const paths = of.paths.filter((path) => !found.has(path));
  const inherited = await findLastCommits(db, { ...of, number: fork, paths });
  return new Map([...inherited, ...found]);
}

/** Returns the commit id of each revision. */
export async function findCommitIds(db: Database, revisionIds: string[]): Promise<Map<string, string>> {
  const rows = await selectCommitIds(db, revisionIds);
  return new Map(rows.map(({ id, commitId }) => [id, commitId]));
}
