import type { Context } from '../../../platform/context.ts';
import { findChangeableAsset } from '../../assets/access/find-changeable-asset.ts';
import type { AssetRow } from '../../assets/queries.ts';
import { BRANCH, type Commit, findHead } from '../../assets/revisions/find-commit.ts';
import { HubError } from '../hub-error.ts';
import {
  openCommit,
  openRepositoryToChange,
  type RepositoryParams,
} from '../repositories/open-repository.ts';
import { noPullRequests } from './refuse-branches.ts';

type Wanted = RepositoryParams & { revision: string; create_pr?: string | undefined };

/**
 * A repository that the caller may commit to, and its newest commit. Throws HubError, also for a revision that is not the
 * branch, and for a pull request.
 */
export async function openOwnBranch(
  ctx: Context,
  { revision, create_pr, ...params }: Wanted,
): Promise<{ asset: AssetRow; head: Commit }> {
  const { id } = await openRepositoryToChange(ctx, params);
  const asset = await findChangeableAsset(ctx.db, { assetId: id, userId: ctx.caller.userId });
  if (create_pr !== undefined && !['0', 'false'].includes(create_pr.toLowerCase())) throw noPullRequests();
  if (revision !== BRANCH && revision !== `refs/heads/${BRANCH}`) {
    await openCommit(ctx, asset, revision);
    throw new HubError('invalid_request', null, `Only ${BRANCH} takes commits, not ${revision}`);
  }
  return { asset, head: await findHead(ctx.db, asset) };
}
