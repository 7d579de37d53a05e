import type { InputOf } from '@bakehouse/contract/endpoint';
import type { saveRestrictedModel as endpoint, RestrictedModel } from '@bakehouse/contract/restricted-models';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { publishChanges } from '../../../platform/events/publish-change.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { findAsset, lockAsset } from '../queries.ts';
import { getRestrictedModel } from './get-restricted-model.ts';
import { listRequesters, updateModel, upsertModel } from './queries.ts';

/** Adds a restricted model, or updates the model with this id; the caller is an operator. */
export async function saveRestrictedModel(
  ctx: Context,
  { params: { modelId }, body }: InputOf<typeof endpoint>,
): Promise<RestrictedModel> {
  const { userId } = ctx.caller;
  await inTransaction(ctx.db, async (tx) => {
    if (body.asset_id) await checkFiles(tx, { assetId: body.asset_id, userId });
    await writeModel(tx, modelId, body);
    const detail = { model_id: modelId, ...(body.asset_id && { asset_id: body.asset_id }) };
    await recordAudit(tx, { userId, action: 'restricted_model.saved', detail });
    const event = { topic: 'asset', id: modelId } as const;
    const concerned = [userId, ...(await listRequesters(tx, modelId))];
    await publishChanges(
      tx,
      concerned.map((id) => ({ userId: id, event })),
    );
  });
  return getRestrictedModel(ctx, { modelId });
}

/** Only an existing model already has a name. */
async function writeModel(
  tx: Transaction,
  id: string,
  { name, ...words }: InputOf<typeof endpoint>['body'],
): Promise<void> {
  if (name !== undefined) return upsertModel(tx, { id, name, ...words });
  if (!(await updateModel(tx, { id, ...words }))) {
    throw new AppError('invalid_request', { publicMessage: 'Name is required', param: 'name' });
  }
}

/** An operator may restrict only their own models. */
async function checkFiles(tx: Transaction, { assetId, userId }: { assetId: string; userId: string }) {
  await lockAsset(tx, assetId);
  const asset = await findAsset(tx, assetId);
  if (asset?.owner_user_id !== userId || asset.dataset_type !== 'MODEL') {
    throw new AppError('invalid_request', {
      publicMessage: 'asset_id must be the id of a model of your own that has the files',
      param: 'asset_id',
    });
  }
  if (asset.is_published) {
    throw new AppError('conflict', {
      publicMessage: `${asset.title} is published: everybody may read it. Unpublish it first`,
      param: 'asset_id',
    });
  }
  if (asset.is_shared) {
    throw new AppError('conflict', {
      publicMessage: `${asset.title} is shared with users, who may read it without a grant. Stop sharing it first`,
      param: 'asset_id',
    });
  }
}
