import type { InputOf } from '@bakehouse/contract/endpoint';
import type * as contract from '@bakehouse/contract/hub/references';
import { findChangeableAsset } from '../../../modules/assets/access/changeable.ts';
import type { AssetRow } from '../../../modules/assets/queries.ts';
import { createBranch, deleteBranch, findBranch } from '../../../modules/assets/revisions/branches.ts';
import { BRANCH, type Commit, findHead } from '../../../modules/assets/revisions/commits.ts';
import { createTag, removeTag } from '../../../modules/assets/revisions/tags.ts';
import type { Context } from '../../../platform/context.ts';
import { HubError } from '../hub-error.ts';
import {
  openCommit,
  openRepository,
  openRepositoryToChange,
  type RepositoryParams,
} from '../repositories/open-repository.ts';

/** Creates a branch from a revision of main. Throws HubError, and the errors of `createBranch`. */
export async function addBranch(
  ctx: Context,
  { params, body }: InputOf<typeof contract.createBranch>,
): Promise<void> {
  const asset = await openRepositoryToChange(ctx, params);
  const { number: from } = await openCommit(ctx, asset, body?.startingPoint ?? BRANCH);
  await createBranch(ctx, { assetId: asset.id, name: params.branch, from });
}

type Wanted = RepositoryParams & { revision: string; create_pr?: string | undefined };

/**
 * Returns a branch that the caller may commit to (null for main), and its newest commit. Throws HubError,
 * also for a revision that is not a branch and for a pull request.
 */
export async function openWritableBranch(
  ctx: Context,
  { revision, create_pr, ...params }: Wanted,
): Promise<{ asset: AssetRow; head: Commit; branch: string | null }> {
  const { id } = await openRepositoryToChange(ctx, params);
  const asset = await findChangeableAsset(ctx.db, { assetId: id, userId: ctx.caller.userId });
  if (create_pr !== undefined && !['0', 'false'].includes(create_pr.toLowerCase())) throw noPullRequests();
  if (revision === BRANCH || revision === `refs/heads/${BRANCH}`)
    return { asset, head: await findHead(ctx.db, asset), branch: null };
  const head = await openCommit(ctx, asset, revision);
  const branch = await findBranch(ctx.db, asset.id, revision);
  if (!branch) throw new HubError('invalid_request', null, `Only branches take commits, not ${revision}`);
  return { asset, head, branch: branch.name };
}

type Done = { success: true };

/** Tags a revision. Throws HubError, and the errors of `createTag`. */
export async function tagRevision(
  ctx: Context,
  { params, body }: InputOf<typeof contract.createRepositoryTag>,
): Promise<Done> {
  const asset = await openRepositoryToChange(ctx, params);
  const commit = await openCommit(ctx, asset, params.revision);
  if (commit.revisionId === null)
    throw new HubError('conflict', null, 'A repository without files cannot be tagged');
  const tag = { name: body.tag, message: body.message, revisionId: commit.revisionId };
  await createTag(ctx, { assetId: asset.id, ...tag });
  return { success: true };
}

/** Deletes a tag. Throws HubError RevisionNotFound for an unknown tag. */
export async function untagRevision(
  ctx: Context,
  { params }: InputOf<typeof contract.deleteRepositoryTag>,
): Promise<Done> {
  const asset = await openRepositoryToChange(ctx, params);
  if (await removeTag(ctx, { assetId: asset.id, name: params.revision })) return { success: true };
  throw new HubError('not_found', 'RevisionNotFound', `There is no tag ${params.revision}`);
}

/** Returns an empty list, because there are no discussions. */
export async function listDiscussions(
  ctx: Context,
  { params }: { params: RepositoryParams },
): Promise<{ discussions: never[]; count: 0; start: 0 }> {
  await openRepository(ctx, params);
  return { discussions: [], count: 0, start: 0 };
}

/** Throws HubError: discussions and pull requests are not supported. */
export async function rejectDiscussion(
  ctx: Context,
  { params }: { params: RepositoryParams },
): Promise<never> {
  await openRepository(ctx, params);
  throw noPullRequests();
}

function noPullRequests(): HubError {
  return new HubError(
    'invalid_request',
    null,
    'There are no discussions and pull requests here. Commit to main',
  );
}

/** Deletes a branch with its commits. Throws HubError if there is no such branch, and for main. */
export async function removeBranch(
  ctx: Context,
  { params }: InputOf<typeof contract.deleteBranch>,
): Promise<void> {
  const asset = await openRepositoryToChange(ctx, params);
  if (params.branch === BRANCH)
    throw new HubError('invalid_request', null, `The branch ${BRANCH} cannot be deleted`);
  if (await deleteBranch(ctx, { assetId: asset.id, name: params.branch })) return;
  throw new HubError('not_found', 'RevisionNotFound', `There is no branch ${params.branch}`);
}
