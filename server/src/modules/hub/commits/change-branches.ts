import type { InputOf } from '@bakehouse/contract/endpoint';
import type * as contract from '@bakehouse/contract/hub/references';
import type { Context } from '../../../platform/context.ts';
import { createBranch, deleteBranch } from '../../assets/revisions/branches.ts';
import { BRANCH } from '../../assets/revisions/find-commit.ts';
import { HubError } from '../hub-error.ts';
import { openCommit, openRepositoryToChange } from '../repositories/open-repository.ts';

/**
 * Creates a branch at a revision of main, by default the newest. Throws HubError, and the errors of
 * `createBranch`.
 */
export async function addBranch(
  ctx: Context,
  { params, body }: InputOf<typeof contract.createBranch>,
): Promise<void> {
  const asset = await openRepositoryToChange(ctx, params);
  const { number: from } = await openCommit(ctx, asset, body?.startingPoint ?? BRANCH);
  await createBranch(ctx, { assetId: asset.id, name: params.branch, from });
}

/** Deletes a branch with its commits. Throws HubError for an unknown branch and for main. */
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
