import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type {
  AccessRequest,
  listRestrictedModels as listRestrictedModelsEndpoint,
  RestrictedModel,
  saveRestrictedModel as saveRestrictedModelEndpoint,
} from '@bakehouse/contract/restricted-models';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { conflict, invalidParam, notFound } from '../../../platform/errors.ts';
import { publishChanges } from '../../../platform/events/publish-change.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { findAsset, lockAsset } from '../queries.ts';
import {
  deleteModel,
  findModel,
  listModels,
  listRequesters,
  type ModelRow,
  type RequestRow,
  updateModel,
  upsertModel,
} from './queries.ts';

/** Returns a restricted model with the state of the caller's request. */
export async function getRestrictedModel(
  ctx: Context,
  { modelId }: { modelId: string },
): Promise<RestrictedModel> {
  const model = await findModel(ctx.db, { userId: ctx.caller.userId, modelId });
  if (!model) throw notFound('Restricted model');
  return toRestrictedModel(model);
}

/** Lists the restricted models by id, each with the state of the caller's request. */
export async function listRestrictedModels(
  ctx: Context,
  { query: { limit, cursor } }: InputOf<typeof listRestrictedModelsEndpoint>,
): Promise<ResponseOf<typeof listRestrictedModelsEndpoint>> {
  const found = await listModels(ctx.db, { userId: ctx.caller.userId, cursor, limit: limit + 1 });
  const models = found.slice(0, limit);
  return {
    restricted_models: models.map(toRestrictedModel),
    next_cursor: found.length > limit ? (models.at(-1)?.id ?? null) : null,
  };
}

/** Returns a request as operators see it. */
export function toAccessRequest(row: RequestRow): AccessRequest {
  return {
    request_id: row.id,
    model_id: row.restricted_model_id,
    model_name: row.model_name,
    user_id: row.user_id,
    username: row.username,
    email: row.email,
    message: row.message,
    state: row.state,
    requested_at: row.requested_at.toISOString(),
    decided_at: row.decided_at?.toISOString() ?? null,
  };
}

/** Adds a restricted model, or updates the model with this id; the caller is an operator. */
export async function saveRestrictedModel(
  ctx: Context,
  { params: { modelId }, body }: InputOf<typeof saveRestrictedModelEndpoint>,
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

/**
 * Creates or updates a model. The name may be absent only if the model exists, because a new one needs it.
 */
async function writeModel(
  tx: Transaction,
  id: string,
  { name, ...words }: InputOf<typeof saveRestrictedModelEndpoint>['body'],
): Promise<void> {
  if (name !== undefined) return upsertModel(tx, { id, name, ...words });
  if (!(await updateModel(tx, { id, ...words }))) {
    throw invalidParam('name', 'Name is required');
  }
}

/** An operator may restrict only their own models. */
async function checkFiles(tx: Transaction, { assetId, userId }: { assetId: string; userId: string }) {
  await lockAsset(tx, assetId);
  const asset = await findAsset(tx, assetId);
  if (asset?.owner_user_id !== userId || asset.dataset_type !== 'MODEL') {
    throw invalidParam('asset_id', 'asset_id must be the id of a model of your own that has the files');
  }
  if (asset.is_published) {
    throw conflict(`${asset.title} is published, so every user can read it. Unpublish it first`, {
      param: 'asset_id',
    });
  }
  if (asset.is_shared) {
    throw conflict(
      `${asset.title} is shared with users, who may read it without a grant. Stop sharing it first`,
      { param: 'asset_id' },
    );
  }
}

/** Converts a row to the API format. The row contains the request of the user who will see it. */
function toRestrictedModel({ asset_id, is_own, ...model }: ModelRow): RestrictedModel {
  return {
    ...model,
    is_available: asset_id !== null,
    dataset_id: model.access === 'granted' || is_own ? asset_id : null,
  };
}

/** Deletes a restricted model with its requests, but not its asset; the caller is an operator. */
export async function deleteRestrictedModel(ctx: Context, { modelId }: { modelId: string }): Promise<void> {
  const { userId } = ctx.caller;
  await inTransaction(ctx.db, async (tx) => {
    const concerned = [userId, ...(await listRequesters(tx, modelId))];
    if (!(await deleteModel(tx, modelId))) {
      throw notFound('Restricted model');
    }
    await recordAudit(tx, { userId, action: 'restricted_model.deleted', detail: { model_id: modelId } });
    const event = { topic: 'asset', id: modelId } as const;
    await publishChanges(
      tx,
      concerned.map((id) => ({ userId: id, event })),
    );
  });
}
