import type { RepositoryTypes } from '@bakehouse/contract/hub/shared';
import type { AssetRow } from '../../../modules/assets/queries.ts';
import {
  findMovedRepository,
  findNamedRepository,
  findRepository,
} from '../../../modules/assets/repositories/find-repository.ts';
import { repositoryId } from '../../../modules/assets/repositories/namespace.ts';
import { type Commit, findCommit } from '../../../modules/assets/revisions/commits.ts';
import type { Context } from '../../../platform/context.ts';
import { HubError } from '../hub-error.ts';

/** A repository's name in paths. */
export type RepositoryParams = { type: RepositoryTypes; namespace: string; name: string };

/**
 * Returns the repository if the caller may read it. Throws HubError RepoNotFound, with the new name if the
 * repository was renamed, or GatedRepo.
 */
export async function openRepository(ctx: Context, params: RepositoryParams): Promise<AssetRow> {
  return open(ctx, params, findRepository);
}

/** Like `openRepository`, but for changes: a clone cannot be changed under its name in the public hub. */
export async function openRepositoryToChange(ctx: Context, params: RepositoryParams): Promise<AssetRow> {
  return open(ctx, params, findNamedRepository);
}

async function open(
  ctx: Context,
  { type, namespace, name }: RepositoryParams,
  find: typeof findRepository,
): Promise<AssetRow> {
  const wanted = {
    type: type === 'models' ? ('model' as const) : ('dataset' as const),
    ...{ namespace, name, userId: ctx.caller.userId },
  };
  const found = await find(ctx.db, wanted);
  if (found === null) {
    const moved = await findMovedRepository(ctx.db, wanted);
    throw new HubError('not_found', 'RepoNotFound', 'Repository not found', {
      ...(moved && { movedTo: repositoryId(moved) }),
    });
  }
  if (found !== 'gated') return found;
  throw new HubError(
    'forbidden',
    'GatedRepo',
    `Access to model ${namespace}/${name} is restricted. Ask for access on the models page`,
  );
}

/** Returns one commit of a repository. Throws HubError RevisionNotFound. */
export async function openCommit(ctx: Context, asset: AssetRow, revision: string): Promise<Commit> {
  const commit = await findCommit(ctx.db, asset, revision);
  if (commit) return commit;
  throw new HubError('not_found', 'RevisionNotFound', `There is no revision ${revision}`);
}

/** Returns a repository together with one of its commits. */
export async function openRevision(
  ctx: Context,
  { revision, ...params }: RepositoryParams & { revision: string },
): Promise<{ asset: AssetRow; commit: Commit }> {
  const asset = await openRepository(ctx, params);
  return { asset, commit: await openCommit(ctx, asset, revision) };
}
