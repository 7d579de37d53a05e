import type { InputOf } from '@bakehouse/contract/endpoint';
import type * as contract from '@bakehouse/contract/hub/repositories';
import type { Context } from '../../../platform/context.ts';
import type { FindAssetUse } from '../../assets/asset-use.ts';
import { deleteAsset } from '../../assets/delete-asset.ts';
import { renameAsset } from '../../assets/repositories/rename-asset.ts';
import { updateAsset } from '../../assets/update-asset.ts';
import { HubError } from '../hub-error.ts';
import { isPublic, ownName } from './create-repository.ts';
import { openRepository, openRepositoryToChange, type RepositoryParams } from './open-repository.ts';

type Done = { success: true };

/** Succeeds if the caller may read the repository. Throws HubError otherwise. */
export async function checkAccess(
  ctx: Context,
  { params }: { params: RepositoryParams },
): Promise<Done & { _id: string }> {
  const { id } = await openRepository(ctx, params);
  return { success: true, _id: id };
}

/** Deletes a repository of the caller. Throws HubError, and the errors of `deleteAsset`. */
export async function deleteRepository(
  ctx: Context,
  { body, findUses }: Pick<InputOf<typeof contract.deleteRepository>, 'body'> & { findUses: FindAssetUse[] },
): Promise<Done> {
  const named = await ownName(ctx, body);
  const asset = await openRepositoryToChange(ctx, { type: toTypes(body.type), ...named });
  await deleteAsset(ctx, { assetId: asset.id, findUses });
  return { success: true };
}

/** Renames a repository of the caller within its namespace. Throws HubError. */
export async function moveRepository(
  ctx: Context,
  { body }: InputOf<typeof contract.moveRepository>,
): Promise<Done> {
  const from = await ownName(ctx, { name: body.fromRepo });
  const { name } = await ownName(ctx, { name: body.toRepo });
  const asset = await openRepositoryToChange(ctx, { type: toTypes(body.type), ...from });
  await renameAsset(ctx, { assetId: asset.id, name });
  return { success: true };
}

/** Changes the visibility of a repository of the caller. Throws HubError. */
export async function changeRepository(
  ctx: Context,
  { params, body }: InputOf<typeof contract.changeRepository>,
): Promise<Done> {
  const asset = await openRepositoryToChange(ctx, params);
  if (body.gated) {
    throw new HubError(
      'invalid_request',
      null,
      'Only an operator can restrict a model. They do so by its id',
    );
  }
  const isSaid = body.private !== undefined || body.visibility !== undefined;
  await updateAsset(ctx, { assetId: asset.id, changes: isSaid ? { is_published: isPublic(body) } : {} });
  return { success: true };
}

function toTypes(type: 'model' | 'dataset' | null | undefined): 'models' | 'datasets' {
  return type === 'dataset' ? 'datasets' : 'models';
}
