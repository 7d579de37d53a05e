import { randomUUID } from 'node:crypto';
import type { deployVllm as contract } from '@bakehouse/contract/deployments';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../platform/context.ts';
import { type Transaction, toJson } from '../../platform/db/database.ts';
import { hasIdempotentAnswer, idempotent } from '../../platform/db/idempotent.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError } from '../../platform/errors.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { keepAssets } from '../assets/keep-assets.ts';
import { listStarterModels } from '../assets/starter-models.ts';
import { knownInstanceTypes } from './choose-placement.ts';
import { ensureTextServer } from './ensure-text-server.ts';
import { holdPeriod } from './meter-deployment.ts';
import { freeModelName, toModelName } from './model-name.ts';
import { type PlacedModel, placeModel } from './place-model.ts';
import { insertDeployment, listLiveModelNames, lockDeployment } from './queries.ts';
import { reconcileTextServer } from './reconcile-text-server.ts';
import { refuseManyBases } from './refuse-many-bases.ts';
import type { ServingParts } from './serving-parts.ts';

type Input = InputOf<typeof contract>;

/**
 * Serves a text model: on the model server of its base if that runs, else on a new one. The first
 * hour is held at once. Throws AppError 'insufficient_funds', and what describeServedModel throws.
 */
export async function deployVllm(
  ctx: Context,
  parts: ServingParts,
  { body }: Input,
): Promise<ResponseOf<typeof contract>> {
  const call = {
    userId: ctx.caller.userId,
    key: ctx.idempotencyKey,
    operation: 'deploy-vllm',
    input: body,
  };
  // A repeated call is answered as before, whatever has become of the model since.
  const found = (await hasIdempotentAnswer(ctx.db, call)) ? null : await find(ctx, parts, body);
  return inTransaction(ctx.db, (tx) =>
    idempotent(tx, call, async () => {
      if (!found) {
        throw new AppError('conflict', {
          publicMessage: 'The first call with this key has failed. Try again',
        });
      }
      const podId = await place(tx, ctx, found, body.instance_type);
      return { pod_id: podId, deployment_id: podId };
    }),
  );
}

async function find(ctx: Context, parts: ServingParts, body: Input['body']): Promise<PlacedModel> {
  const asked = { instanceType: body.instance_type, gpuCount: body.gpu_count };
  const placed = await placeModel(ctx, parts, body.model_id, asked);
  if (!placed) {
    throw new AppError('invalid_request', {
      publicMessage: `instance_type must be one of ${knownInstanceTypes.join(', ')}`,
      param: 'instance_type',
    });
  }
  return placed;
}

async function place(
  tx: Transaction,
  ctx: Context,
  { model, placement }: PlacedModel,
  instanceType: string,
): Promise<string> {
  const { userId } = ctx.caller;
  await keepAssets(tx, [model.assetId, model.baseAssetId]);
  const serverId = await ensureTextServer(tx, model.base, placement);
  await refuseManyBases(tx, { userId, serverId, baseAssetId: model.baseAssetId });
  const starters = (await listStarterModels(tx)).map((starter) => starter.modelName);
  const taken = new Set([...starters, ...(await listLiveModelNames(tx, userId))]);
  const podId = randomUUID();
  await insertDeployment(tx, {
    id: podId,
    user_id: userId,
    key_id: ctx.caller.key?.id ?? null,
    text_server_id: serverId,
    asset_id: model.assetId,
    revision_id: model.revisionId,
    base_asset_id: model.baseAssetId,
    adapter_file: model.adapter?.file ?? null,
    adapter_rank: model.adapter?.rank ?? null,
    adapter_files: model.adapter ? toJson(model.adapter.files) : null,
    model_name: freeModelName(toModelName(model.title), taken),
    title: model.title,
    base_model_title: model.baseTitle,
    instance_type: instanceType,
    price_id: placement.priceId,
    price_count: placement.priceCount,
    created_at: ctx.clock.now(),
  });
  await reconcileTextServer(tx, ctx.clock, serverId);
  await publishChange(tx, userId, { topic: 'deployment', id: podId });
  await holdPeriod(tx, ctx.clock.now(), await lockDeployment(tx, podId));
  return podId;
}
