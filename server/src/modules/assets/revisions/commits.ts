import { createHash } from 'node:crypto';
import type {
  AssetCommit,
  listAssetCommits as listAssetCommitsEndpoint,
} from '@bakehouse/contract/asset-commits';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { unknownCursor } from '../../../platform/errors.ts';
import { findReadableAsset } from '../access/find-readable-asset.ts';
import type { AssetRow } from '../queries.ts';
import { type Branch, findBranch, listBranches, startOf } from './branches.ts';
import {
  findByCommitId,
  findByNumber,
  findByRevision,
  findByTag,
  selectCommitIds,
  selectCommitsDescending,
  selectLastCommits,
  selectTagsOf,
} from './commit-queries.ts';

/** The initial branch of an asset. */
export const BRANCH = 'main';

/** Names of the newest commit; JavaScript clients use HEAD by default. */
const NEWEST: readonly string[] = [BRANCH, `refs/heads/${BRANCH}`, 'HEAD'];

/** Lists the commits of an asset, newest first; the cursor is the previous page's last commit. */
export async function listAssetCommits(
  ctx: Context,
  { params, query: { limit, cursor } }: InputOf<typeof listAssetCommitsEndpoint>,
): Promise<ResponseOf<typeof listAssetCommitsEndpoint>> {
  const asset = await findReadableAsset(ctx.db, { assetId: params.id, userId: ctx.caller.userId });
  const last = cursor === undefined ? null : await findCommit(ctx.db, asset, cursor);
  if (cursor !== undefined && last === null) throw unknownCursor();
  const { number: from } = last ?? (await findHead(ctx.db, asset));
  const found = await listCommits(ctx.db, asset, { from, skip: last ? 1 : 0, limit: limit + 1 });
  const commits = found.slice(0, limit);
  return {
    commits: await toWireCommits(ctx.db, commits),
    next_cursor: found.length > limit ? (commits.at(-1)?.commitId ?? null) : null,
  };
}

/**
 * Returns a commit and its ancestors, newest first, without the first `skip`. Commits of a branch precede the
 * commits of main. The list ends with the initial commit, which has no files.
 */
export async function listCommits(
  db: Database,
  asset: AssetRow,
  { from, skip = 0, limit }: { from: number; skip?: number; limit: number },
): Promise<Commit[]> {
  if (from < 0) return listBranchCommits(db, asset, { from, skip, limit });
  // Numbers on main have no gaps, so skip by subtraction.
  const first = from - skip;
  if (first < 0) return [];
  const rows = await selectCommitsDescending(db, { assetId: asset.id, from: first, above: 0, limit });
  return rows.length < limit ? [...rows, emptyCommit(asset)] : rows;
}

async function listBranchCommits(
  db: Database,
  asset: AssetRow,
  { from, skip, limit }: { from: number; skip: number; limit: number },
): Promise<Commit[]> {
  const start = startOf(from);
  const rows = await selectCommitsDescending(db, {
    assetId: asset.id,
    from: from - skip,
    above: start,
    limit,
  });
  const branch = await findBranchOf(db, asset.id, from);
  if (rows.length === limit || !branch) return rows;
  const rest = { skip: Math.max(0, skip - (from - start)), limit: limit - rows.length };
  return [...rows, ...(await listCommits(db, asset, { from: branch.fork_number, ...rest }))];
}

async function findBranchOf(db: Database, assetId: string, number: number): Promise<Branch | undefined> {
  return (await listBranches(db, assetId)).find((branch) => branch.start_number === startOf(number));
}

/** For each of these files of a revision, returns the commit that added or last changed the file, by path. */
export async function findLastCommits(
  db: Database,
  of: { assetId: string; number: number; paths: string[] },
): Promise<Map<string, Commit>> {
  const rows = await selectLastCommits(db, of);
  const found = new Map<string, Commit>(rows.map(({ path, ...commit }) => [path, commit]));
  if (of.number >= 0) return found;
  // A branch inherits unchanged files from the commit of main at which it started.
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

/** A revision in the form that the hub's clients see. */
export type Commit = {
  /** Null for the initial commit of an asset, which has no files and `number` 0. */
  revisionId: string | null;
  number: number;
  commitId: string;
  createdAt: Date;
  message: string;
  /** A username; null if unknown. */
  author: string | null;
};

/** Returns the initial commit of an asset, before its first file. */
export function emptyCommit(asset: Pick<AssetRow, 'id' | 'created_at' | 'owner_username'>): Commit {
  return {
    revisionId: null,
    number: 0,
    commitId: createHash('sha1').update(`bakehouse ${asset.id}`).digest('hex'),
    createdAt: asset.created_at,
    message: 'Create the repository',
    author: asset.owner_username,
  };
}

/** Returns the newest commit of an asset. */
export async function findHead(db: Database | Transaction, asset: AssetRow): Promise<Commit> {
  return asset.revision_id ? findByRevision(db, asset.id, asset.revision_id) : emptyCommit(asset);
}

/** Returns the newest commit of a branch other than main. */
export async function findBranchHead(
  db: Database | Transaction,
  asset: AssetRow,
  { head_number: number }: Pick<Branch, 'head_number'>,
): Promise<Commit> {
  return number === 0 ? emptyCommit(asset) : findByNumber(db, asset.id, number);
}

/** Returns the commit of a branch, a tag or a commit id; null if the asset has none. */
export async function findCommit(
  db: Database | Transaction,
  asset: AssetRow,
  wanted: string,
): Promise<Commit | null> {
  if (NEWEST.includes(wanted)) return findHead(db, asset);
  if (/^[0-9a-f]{40}$/.test(wanted)) {
    const empty = emptyCommit(asset);
    return wanted === empty.commitId ? empty : ((await findByCommitId(db, asset.id, wanted)) ?? null);
  }
  const branch = wanted.startsWith('refs/tags/') ? undefined : await findBranch(db, asset.id, wanted);
  if (branch) return findBranchHead(db, asset, branch);
  return (await findByTag(db, asset.id, wanted.replace(/^refs\/tags\//, ''))) ?? null;
}

/** Returns a commit with its tags; a new commit has none. */
export function toWireCommit(commit: Commit, tags: string[] = []): AssetCommit {
  return {
    commit_id: commit.commitId,
    revision_id: commit.revisionId,
    number: commit.number,
    message: commit.message,
    author: commit.author,
    created_at: commit.createdAt.toISOString(),
    tags,
  };
}

/** Returns commits, each with its tags by name. */
export async function toWireCommits(db: Database, commits: Commit[]): Promise<AssetCommit[]> {
  const ids = commits.flatMap(({ revisionId }) => revisionId ?? []);
  const tags = Map.groupBy(await selectTagsOf(db, ids), ({ revisionId }) => revisionId);
  return commits.map((commit) =>
    toWireCommit(
      commit,
      tags.get(commit.revisionId ?? '')?.map(({ name }) => name),
    ),
  );
}
