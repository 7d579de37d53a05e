import type { Context } from '../../../platform/context.ts';
import { findChangeableAsset } from '../../assets/access/find-changeable-asset.ts';
import type { AssetRow } from '../../assets/queries.ts';
import { findBranch } from '../../assets/revisions/branches.ts';
import { BRANCH, type Commit, findHead } from '../../assets/revisions/find-commit.ts';
import { HubError } from '../hub-error.ts';
import {
  openCommit,
  openRepositoryToChange,
  type RepositoryParams,
} from '../repositories/open-repository.ts';
import { noPullRequests } from './refuse-discussions.ts';

type Wanted = RepositoryParams & { revision: string; create_pr?: string | undefined };

/**
 * Returns the newest commit of a branch that the caller may commit to, and the branch (null for main). Throws
 * HubError, also for a revision that is not a branch, and for a pull request.
 */
export async function openOwnBranch(
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
