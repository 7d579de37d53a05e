import { createHash } from 'node:crypto';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import type { AssetRow } from '../queries.ts';
import { type Branch, findBranch } from './branches.ts';
import { findByCommitId, findByNumber, findByRevision, findByTag } from './commit-queries.ts';

/** The initial branch of an asset. */
export const BRANCH = 'main';
/** Names of the newest commit; JavaScript clients use HEAD by default. */
const NEWEST: readonly string[] = [BRANCH, `refs/heads/${BRANCH}`, 'HEAD'];

/** A revision as the hub's clients see it. */
export type Commit = {
  /** Null, with `number` 0, for the asset before its first file. */
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
