import { randomUUID } from 'node:crypto';
import type { deployVllm as contract } from '@bakehouse/contract/deployments';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { readMachine } from '../../engine/machine/read-machine.ts';
import type { Context } from '../../platform/context.ts';
import { toJson, type Transaction } from '../../platform/db/database.ts';
import { idempotent } from '../../platform/db/idempotent.ts';
import { AppError } from '../../platform/errors.ts';
import { choosePlacement, knownInstanceTypes, type ServingPlacement } from './choose-placement.ts';
import { describeServedModel, type ServedModel } from './describe-served-model.ts';
import { ensureTextServer } from './ensure-text-server.ts';
import { holdPeriod } from './meter-deployment.ts';
import { freeModelName, toModelName } from './model-name.ts';
import { listLiveModelNames, lockDeployment } from './queries.ts';
import { reconcileTextServer } from './reconcile-text-server.ts';

/**
 * Serves a text model: on the model server of its base if that runs, else on a new one. The first
 * hour is held at once. Throws AppError 'insufficient_funds', and what describeServedModel throws.
 */
export async function deployVllm(
  ctx: Context,
  { body }: InputOf<typeof contract>,
): Promise<ResponseOf<typeof contract>> {
  const { accelerators } = await readMachine(ctx);
  const placement = choosePlacement({ instanceType: body.instance_type, gpuCount: body.gpu_count }, accelerators);
  if (!placement) {
    throw new AppError('invalid_request', {
      publicMessage: `instance_type must be one of ${knownInstanceTypes.join(', ')}`,
      param: 'instance_type',
    });
  }
  const model = await describeServedModel(ctx, body.model_id, placement.engine);

  return ctx.db.transaction().execute((tx) =>
    idempotent(
      tx,
      { userId: ctx.caller.userId, key: ctx.idempotencyKey, operation: 'deploy-vllm', input: body },
      async () => {
        const server = await ensureTextServer(tx, model, placement);
        const podId = await insertDeployment(tx, ctx, model, placement, {
          serverId: server.id,
          instanceType: body.instance_type,
        });
        await holdPeriod(tx, ctx.clock.now(), await lockDeployment(tx, podId));
        await reconcileTextServer(tx, ctx.clock, server.id);
        return { pod_id: podId, deployment_id: podId };
      },
    ),
  );
}

async function insertDeployment(
  tx: Transaction,
  ctx: Context,
  model: ServedModel,
  placement: ServingPlacement,
  on: { serverId: string; instanceType: string },
): Promise<string> {
  const { userId } = ctx.caller;
  const id = randomUUID();
  await tx
    .insertInto('deployments')
    .values({
      id,
      user_id: userId,
      text_server_id: on.serverId,
      asset_id: model.assetId,
      revision_id: model.revisionId,
      adapter_file: model.adapter?.file ?? null,
      adapter_rank: model.adapter?.rank ?? null,
      adapter_files: model.adapter ? toJson(model.adapter.files) : null,
      model_name: freeModelName(toModelName(model.title), await listLiveModelNames(tx, userId)),
      title: model.title,
      base_model_title: model.baseTitle,
      instance_type: on.instanceType,
      price_id: placement.priceId,
      price_count: placement.priceCount,
      created_at: ctx.clock.now(),
    })
    .execute();
  return id;
}
