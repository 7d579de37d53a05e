import type { InputOf } from '@bakehouse/contract/endpoint';
import type * as contract from '@bakehouse/contract/hub/references';
import type { Context } from '../../../platform/context.ts';
import { createTag, removeTag } from '../../assets/revisions/tags.ts';
import { HubError } from '../hub-error.ts';
import { openCommit, openRepositoryToChange } from '../repositories/open-repository.ts';

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
