import { sql } from 'kysely';
import type { Context } from '../../../platform/context.ts';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { conflict, invalidParam } from '../../../platform/errors.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { lockChangeableAsset } from '../access/changeable.ts';
import { announceAssets } from '../assets.ts';
import { endFiles, insertFiles, insertRevision } from '../queries.ts';
import { findByTag } from './commit-queries.ts';

const RANGE = 1_000_000;
const BRANCHES_MAX = 100;
/** Names that Git accepts for tags and branches, restricted to common characters. */
const NAME = /^(?!.*(\.\.|\/\/|\/\.|\.lock$))[A-Za-z0-9_][\w./+-]{0,199}(?<![./])$/;

export type Branch = { name: string; start_number: number; fork_number: number; head_number: number };

/** Returns the first number of the branch range that contains `number`. */
export function startOf(number: number): number {
  return Math.floor(number / RANGE) * RANGE;
}

/** Returns the last number of a branch's range. A branch's newest files have it as their `last_number`. */
export function endOf({ start_number: start }: Branch): number {
  return start + RANGE - 1;
}

/** Lists the branches of an asset other than main, by name. */
export async function listBranches(db: Database | Transaction, assetId: string): Promise<Branch[]> {
  return db
    .selectFrom('revision_branches')
    .select(['name', 'start_number', 'fork_number', 'head_number'])
    .where('asset_id', '=', assetId)
    .orderBy('name')
    .execute();
}

/** Finds a branch by its name, with or without `refs/heads/`. */
export async function findBranch(
  db: Database | Transaction,
  assetId: string,
  name: string,
): Promise<Branch | undefined> {
  const bare = name.replace(/^refs\/heads\//, '');
  return (await listBranches(db, assetId)).find((branch) => branch.name === bare);
}

/**
 * Creates a branch at the revision of main with the number `from`; 0 means before its first file. Throws
 * AppError 'invalid_request', and 'conflict' if the name is taken.
 */
export async function createBranch(
  ctx: Context,
  { assetId, name, from }: { assetId: string; name: string; from: number },
): Promise<void> {
  const { userId } = ctx.caller;
  await inTransaction(ctx.db, async (tx) => {
    await lockChangeableAsset(tx, { assetId, userId });
    await assertNewName(tx, { assetId, name, kind: 'branch' });
    const branches = await listBranches(tx, assetId);
    if (from < 0) throw invalidParam('startingPoint', 'A branch starts at a revision of main');
    if (branches.length >= BRANCHES_MAX)
      throw invalidParam('branch', `A repository has at most ${BRANCHES_MAX} branches`);
    const numbers = { start_number: freeStart(branches), fork_number: from, head_number: from };
    await tx
      .insertInto('revision_branches')
      .values({ asset_id: assetId, name, ...numbers })
      .execute();
    await recordAudit(tx, {
      userId,
      action: 'asset.branch_created',
      detail: { asset_id: assetId, branch: name },
    });
    await announceAssets(tx, [assetId]);
  });
}

/** Returns the start of the first free range. Ranges of deleted branches become free again. */
function freeStart(branches: Branch[]): number {
  const taken = new Set(branches.map((branch) => branch.start_number));
  let start = -RANGE;
  while (taken.has(start)) start -= RANGE;
  return start;
}

/**
 * Returns true if a tag or branch may have this name. Rejects main, HEAD, names that look like commit ids,
 * and `refs/…`.
 */
function isReferenceName(name: string): boolean {
  const isTaken = ['main', 'HEAD'].includes(name) || /^[0-9a-f]{40}$/.test(name) || name.startsWith('refs/');
  return NAME.test(name) && !isTaken;
}

/** Throws AppError 'invalid_request' for an invalid name, and 'conflict' for an existing tag or branch. */
export async function assertNewName(
  tx: Transaction,
  { assetId, name, kind }: { assetId: string; name: string; kind: 'branch' | 'tag' },
): Promise<void> {
  if (!isReferenceName(name)) throw invalidParam(kind, `${name} cannot be the name of a ${kind}`);
  if ((await findBranch(tx, assetId, name)) || (await findByTag(tx, assetId, name)))
    throw conflict(`${name} exists already`, { param: kind });
}

/** Deletes a branch with its commits. Returns true if it existed. */
export async function deleteBranch(
  ctx: Context,
  { assetId, name }: { assetId: string; name: string },
): Promise<boolean> {
  const { userId } = ctx.caller;
  return inTransaction(ctx.db, async (tx) => {
    await lockChangeableAsset(tx, { assetId, userId });
    const branch = await findBranch(tx, assetId, name);
    if (!branch) return false;
    const range = sql`between ${branch.start_number} and ${endOf(branch)}`;
    await sql`delete from asset_files where asset_id = ${assetId} and first_number ${range}`.execute(tx);
    await sql`delete from revisions where asset_id = ${assetId} and number ${range}`.execute(tx);
    await tx
      .deleteFrom('revision_branches')
      .where('asset_id', '=', assetId)
      .where('start_number', '=', branch.start_number)
      .execute();
    const detail = { asset_id: assetId, branch: branch.name };
    await recordAudit(tx, { userId, action: 'asset.branch_deleted', detail });
    await announceAssets(tx, [assetId]);
    return true;
  });
}

/** Step: copies the files of the revision at which a branch starts, before the branch's first commit. */
export async function copyForkedFiles(tx: Transaction, assetId: string, branch: Branch): Promise<void> {
  const { fork_number: fork, head_number: head, start_number: start } = branch;
  if (head !== fork) return;
  await sql`
    insert into asset_files (asset_id, path, first_number, last_number, sha256, size_bytes, uploaded_at)
    select asset_id, path, ${start}::int, ${endOf(branch)}::int, sha256, size_bytes, uploaded_at from asset_files
    where asset_id = ${assetId} and first_number <= ${fork} and first_number > 0
      and (last_number is null or last_number >= ${fork})
    on conflict do nothing`.execute(tx);
}

type Change = {
  put: { path: string; sha256: string; sizeBytes: number }[];
  remove: string[];
  message: string;
  authorUserId: string;
};

/** Step: commits to a branch of a locked asset, after `copyForkedFiles`. Returns the revision's number. */
export async function addBranchRevision(
  tx: Transaction,
  { assetId, branch, change }: { assetId: string; branch: Branch; change: Change },
): Promise<number> {
  const newest = branch.head_number < 0 ? branch.head_number : branch.start_number;
  const number = newest + 1;
  const end = endOf(branch);
  await insertRevision(tx, { assetId, number, message: change.message, authorUserId: change.authorUserId });
  const paths = [...change.remove, ...change.put.map(({ path }) => path)];
  await endFiles(tx, assetId, { paths, lastNumber: newest, end });
  await insertFiles(tx, assetId, { files: change.put, firstNumber: number, end });
  await tx
    .updateTable('revision_branches')
    .set({ head_number: number })
    .where('asset_id', '=', assetId)
    .where('start_number', '=', branch.start_number)
    .execute();
  await announceAssets(tx, [assetId]);
  return number;
}
