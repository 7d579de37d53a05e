import { randomUUID } from 'node:crypto';
import type { imageCalls } from '@bakehouse/contract/deployments/images';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { generatorNames } from '@bakehouse/contract/generators';
import type { Context } from '../../platform/context.ts';
import { type Transaction, toJson } from '../../platform/db/database.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { recordAudit } from '../accounts/record-audit.ts';
import { keepAssets } from '../assets/keep-assets.ts';
import { priceOfNow } from '../credits/prices/agreed-price.ts';
import { readPrices } from '../credits/prices/read-prices.ts';
import { refuseHigherCost } from '../credits/prices/refuse-higher-cost.ts';
import { spendOnce } from '../credits/spend-once.ts';
import { requireLicence } from '../licences/steps.ts';
import { freeModelName, toModelName } from '../models/names/model-name.ts';
import { listStarterModels } from '../models/starter/list-starter-models.ts';
import { type AskedDeployment, type FoundPlacement, findPlacement } from './find-placement.ts';
import { deploymentKinds, type KindName } from './kinds/kinds.ts';
import { holdPeriod, PERIOD_MS, timeCostMicro } from './metering/meter-deployment.ts';
import { insertDeployment, listLiveModelNames, lockDeployment, lockLiveDeployment } from './queries.ts';
import { ensureModelServer } from './servers/ensure-model-server.ts';
import { refuseManyServers } from './servers/limits/refuse-many-servers.ts';
import { checkReplicas } from './servers/plan/check-replicas.ts';
import { reconcileModelServer } from './servers/reconcile-model-server.ts';
import type { WakingParts } from './waking-parts.ts';

type Input = {
  kind: KindName;
  body: AskedDeployment & Pick<InputOf<typeof imageCalls.flux.deploy>['body'], 'cost_max'>;
  /**
   * Name chosen by the owner; derived from the model's title by default. A live deployment with this name is
   * reused.
   */
  modelName?: string;
};

/**
 * Deploys a model: on the running model server of its base if there is one, else on a new one. Holds the
 * price of the first hour. Throws AppError 'insufficient_funds', 'licence_not_accepted', 'conflict' if an
 * hour costs more than allowed, and the errors of the kind's placement.
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
    // `cost_max` is not part of the key: a retry at a new price returns the same deployment.
    { operation: `deploy-${kind}`, input: body },
    () => findPlacement(ctx, parts, { kind, body }),
    async (tx, found) => {
      const own = modelName && (await lockLiveDeployment(tx, { userId: ctx.caller.userId, modelName }));
      const podId = own || (await placeDeployment(tx, ctx, { kind, ...found, body, costMaxMicro, modelName }));
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
  // The price may have changed since the placement.
  const { unitPriceMicro: unit_price_micro } = priceOfNow(await readPrices(tx, now), price);
  const agreed = { ...price, unit_price_micro };
  refuseHigherCost({
    micro: timeCostMicro(agreed, BigInt(PERIOD_MS)),
    maxMicro: costMaxMicro,
    what: 'an hour of this deployment',
    param: 'cost_max',
  });
  if (model.licence) await requireLicence(tx, { userId, licence: model.licence, title: model.title });
  await keepAssets(tx, { ids: [model.assetId, model.baseAssetId], userId });
  const podId = randomUUID();
  const replicas = Math.max(1, body.min_replicas);
  const isOwn = model.isForeign || body.max_replicas > 1;
  const own = isOwn ? { deploymentId: podId, replicas: body.max_replicas } : null;
  const serverId = await ensureModelServer(tx, { kind: deploymentKinds[kind].server, placed, own });
  await refuseManyServers(tx, { userId, serverId, baseAssetId: model.baseAssetId, replicas, capacity });
  const starters = (await listStarterModels(tx)).map((starter) => starter.modelName);
  // A generator's name would be ambiguous: the images API resolves it to a service.
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
