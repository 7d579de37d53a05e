import { randomUUID } from 'node:crypto';
import { type imageCalls, imageDeploymentKinds } from '@bakehouse/contract/deployments/images';
import { isServedAs } from '@bakehouse/contract/deployments/pipelines';
import type { quoteVllm } from '@bakehouse/contract/deployments/text';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { generatorNames } from '@bakehouse/contract/generators';
import { instanceTypes } from '@bakehouse/contract/limits';
import { formatBgl } from '@bakehouse/contract/money';
import type { Capacity } from '../../engine/model/capacity.ts';
import type { Context } from '../../platform/context.ts';
import { type Transaction, toJson } from '../../platform/db/database.ts';
import { invalidParam } from '../../platform/errors.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { recordAudit } from '../accounts/record-audit.ts';
import { type AssetRevision, readRevision } from '../assets/read-revision.ts';
import { readPipelineIndex } from '../assets/recognise/pipelines.ts';
import { lockAssetsForUse } from '../assets/remove-asset.ts';
import { assertQuotedCost, currentPriceOf } from '../billing/prices/cost.ts';
import type { PriceId } from '../billing/prices/prices.ts';
import { readPrices } from '../billing/prices/read-prices.ts';
import { spendOnce } from '../billing/spend-once.ts';
import { findLicence, requireLicence } from '../licences/licences.ts';
import { isEmbeddingModel } from '../models/embedding/is-embedding-model.ts';
import { freeModelName, toModelName } from '../models/names/model-name.ts';
import { listStarterModels } from '../models/starter/starters.ts';
import { checkCapacity, deviceLabel } from '../serving/placement/choose-placement.ts';
import type { PlacedModel, ReadCapacity, ServedContext } from '../serving/served-model.ts';
import type { WakingParts } from './end-deployment.ts';
import { deploymentKinds, type KindName, type textKinds } from './kinds/kinds.ts';
import { holdPeriod, PERIOD_MS, timeCostMicro } from './metering/meter-deployment.ts';
import { insertDeployment, listLiveModelNames, lockDeployment, lockLiveDeployment } from './queries.ts';
import { assertServerLimit } from './servers/limits/server-limits.ts';
import { ensureModelServer } from './servers/model-servers.ts';
import { checkReplicas, sleepsAfterMinutes } from './servers/plan/plan-model-server.ts';
import { reconcileModelServer } from './servers/reconcile-model-server.ts';

type Input = {
  kind: KindName;
  body: AskedDeployment & Pick<InputOf<typeof imageCalls.flux.deploy>['body'], 'cost_max'>;
  /**
   * Name chosen by the owner, by default made from the model's title. If a live deployment has this name, it
   * is used.
   */
  modelName?: string;
};

/**
 * Deploys a model. Uses the running model server of its base if there is one, otherwise a new one. Holds the
 * price of the first hour. Throws AppError 'insufficient_funds', 'licence_not_accepted', 'conflict' if an
 * hour costs more than the caller allows, and the errors of the kind's placement.
 */
export async function deploy(
  ctx: Context,
  parts: WakingParts,
  { kind, body: { cost_max: costMaxMicro, ...body }, modelName }: Input,
): Promise<ResponseOf<typeof imageCalls.flux.deploy>> {
  checkReplicas(body);
  return spendOnce(
    ctx,
    parts.usage,
    // Leave `cost_max` out of the key, so that a retry with a new price returns the same deployment.
    { operation: `deploy-${kind}`, input: body },
    () => findPlacement(ctx, parts, { kind, body }),
    async (tx, found) => {
      const own = modelName && (await lockLiveDeployment(tx, { userId: ctx.caller.userId, modelName }));
      const podId =
        own || (await placeDeployment(tx, ctx, { kind, ...found, body, costMaxMicro, modelName }));
      const { notice } = found.placed;
      const created_at = ctx.clock.now().toISOString();
      return { pod_id: podId, deployment_id: podId, created_at, ...(notice && { notice }) };
    },
  );
}

type Wanted = FoundPlacement & {
  kind: KindName;
  body: AskedDeployment;
  costMaxMicro: bigint | undefined;
  modelName: string | undefined;
};

async function placeDeployment(
  tx: Transaction,
  ctx: Context,
  { kind, placed, capacity, price, body, costMaxMicro, modelName }: Wanted,
): Promise<string> {
  const { userId } = ctx.caller;
  const { model } = placed;
  const now = ctx.clock.now();
  // The price may have changed since the placement was found.
  const { unitPriceMicro: unit_price_micro } = currentPriceOf(await readPrices(tx, now), price);
  const agreed = { ...price, unit_price_micro };
  assertQuotedCost({
    micro: timeCostMicro(agreed, BigInt(PERIOD_MS)),
    maxMicro: costMaxMicro,
    what: 'an hour of this deployment',
    param: 'cost_max',
  });
  if (model.licence) await requireLicence(tx, { userId, licence: model.licence, title: model.title });
  await lockAssetsForUse(tx, { ids: [model.assetId, model.baseAssetId], userId });
  const podId = randomUUID();
  const replicas = Math.max(1, body.min_replicas);
  const isOwn = model.isForeign || body.max_replicas > 1;
  const own = isOwn ? { deploymentId: podId, replicas: body.max_replicas } : null;
  const serverId = await ensureModelServer(tx, { kind: deploymentKinds[kind].server, placed, own });
  await assertServerLimit(tx, { userId, serverId, baseAssetId: model.baseAssetId, replicas, capacity });
  const starters = (await listStarterModels(tx)).map((starter) => starter.modelName);
  // Reserve the names of generators, because the images API resolves such a name to an external service.
  const taken = new Set([...starters, ...generatorNames, ...(await listLiveModelNames(tx, userId))]);
  await insertDeployment(tx, {
    id: podId,
    kind,
    user_id: userId,
    key_id: ctx.caller.key?.id ?? null,
    model_server_id: serverId,
    asset_id: model.assetId,
    revision_id: model.revisionId,
    base_asset_id: model.baseAssetId,
    adapter: model.adapter ? toJson(model.adapter) : null,
    model_name: modelName ?? freeModelName(toModelName(model.title), taken),
    title: model.title,
    base_model_title: model.baseTitle,
    instance_type: body.instance_type,
    auto_scale: body.auto_scale,
    min_replicas: body.min_replicas,
    max_replicas: body.max_replicas,
    replicas,
    ...agreed,
    created_at: now,
  });
  await reconcileModelServer(tx, ctx.clock, serverId);
  await publishChange(tx, userId, { topic: 'deployment', id: podId });
  await recordAudit(tx, {
    userId,
    action: 'deployment.created',
    detail: { pod_id: podId, kind, model_id: model.assetId },
  });
  await holdPeriod(tx, now, await lockDeployment(tx, podId));
  return podId;
}

/** Request to deploy a model of any kind. */
type AskedDeployment = InputOf<typeof imageCalls.flux.quote>['body'] &
  Pick<InputOf<typeof quoteVllm>['body'], 'context_tokens'>;

type FindPlacementInput = { kind: KindName; body: AskedDeployment };

type FoundPlacement = {
  placed: PlacedModel;
  capacity: Capacity;
  /** Price per hour of one replica. */
  price: { price_id: PriceId; price_count: number; unit_price_micro: bigint };
};

/**
 * Returns the placement and price for a model. Throws AppError 'invalid_request', and the errors of the
 * kind's placement.
 */
async function findPlacement(
  ctx: Context,
  parts: ReadCapacity,
  { kind, body }: FindPlacementInput,
): Promise<FoundPlacement> {
  const capacity = await parts.capacity();
  const { place, hourPrice } = deploymentKinds[kind];
  const asked = {
    instanceType: body.instance_type,
    gpuCount: body.gpu_count,
    contextTokens: body.context_tokens,
  };
  const placed = await place(ctx, parts, body.model_id, asked);
  if (!placed) {
    throw invalidParam('instance_type', `instance_type must be one of ${instanceTypes.join(', ')}`);
  }
  const { placement } = placed;
  checkCapacity(body, placement, capacity);
  const price_id = hourPrice[placement.accelerator ? 'GPU' : 'CPU'];
  const { unitPriceMicro: unit_price_micro } = (await readPrices(ctx.db, ctx.clock.now()))[price_id];
  return { placed, capacity, price: { price_id, price_count: placement.count || 1, unit_price_micro } };
}

type TextKind = (typeof textKinds)[number];

/**
 * Returns the kind of deployment for a model's files: the image kind of its pipeline if that is supported,
 * otherwise a text kind.
 */
export async function findKind(ctx: Context, assetId: string): Promise<KindName> {
  const model = await readModel(ctx, assetId);
  // A starter model needs no deployment. Treat it as text, whose error explains this.
  const index = model.asset.isStarter ? null : await readPipelineIndex(ctx, model.files);
  const ofPipeline = imageDeploymentKinds.find((kind) => isServedAs(kind, index?._class_name ?? null));
  return ofPipeline ?? toTextKind(ctx, model);
}

/** Returns the kind of a model deployed over the text API. Throws AppError 'not_found'. */
export async function findTextKind(ctx: Context, assetId: string): Promise<TextKind> {
  return toTextKind(ctx, await readModel(ctx, assetId));
}

function readModel(ctx: Context, assetId: string): Promise<AssetRevision> {
  return readRevision(ctx.db, { assetId, userId: ctx.caller.userId, top: true });
}

async function toTextKind(ctx: Context, model: AssetRevision): Promise<TextKind> {
  return (await isEmbeddingModel(ctx, model)) ? 'embedding' : 'text';
}

type QuoteDeploymentInput = { kind: KindName; body: AskedDeployment };

/** Null for image and video models, which have no context. */
type Quote = ResponseOf<typeof imageCalls.flux.quote> & { context: ServedContext | null };

/**
 * Returns the hourly price of a deployment, for one replica and for all, and the licence that it needs.
 * Throws the same validation errors as deploying.
 */
export async function quoteDeployment(
  ctx: Context,
  parts: ReadCapacity,
  { kind, body }: QuoteDeploymentInput,
): Promise<Quote> {
  checkReplicas(body);
  const { placed, price } = await findPlacement(ctx, parts, { kind, body });
  const { title, licence } = placed.model;
  const { accelerator, count } = placed.placement;
  const ofReplicas = (replicas: number) => formatBgl(timeCostMicro(price, BigInt(PERIOD_MS * replicas)));
  return {
    title,
    licence: licence ? await findLicence(ctx.db, { userId: ctx.caller.userId, licence }) : null,
    device: deviceLabel({ accelerator, accelerator_count: count }),
    price_per_hour: ofReplicas(1),
    min_price_per_hour: ofReplicas(Math.max(1, body.min_replicas)),
    max_price_per_hour: ofReplicas(body.max_replicas),
    hold: ofReplicas(1),
    sleeps_after_minutes: sleepsAfterMinutes(ctx.config, body),
    context: placed.context,
    ...(placed.notice && { notice: placed.notice }),
  };
}
