import { readMachine } from '../../engine/machine/read-machine.ts';
import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import { findStarterModel } from '../assets/starter-models.ts';
import type { PriceId } from '../credits/prices.ts';
import { choosePlacement } from './choose-placement.ts';
import { describeServedModel } from './describe-served-model.ts';
import { ensureTextServer } from './ensure-text-server.ts';
import { findDeploymentByName, findStarterServer, findTextServer, type TextServerRow } from './queries.ts';

/** Where a request for a model goes. */
export type Route = {
  modelName: string;
  server: TextServerRow;
  /** Null: the starter model itself, which needs no deployment. */
  podId: string | null;
  /** Revision id of the adapter; null: the base alone. */
  adapter: string | null;
  sleeping: boolean;
  prices: { prompt: PriceId; completion: PriceId };
};

/** Finds the caller's deployment, or the starter model, of that name. Throws AppError 'not_found'. */
export async function resolveModel(ctx: Context, modelName: string): Promise<Route> {
  const deployment = await findDeploymentByName(ctx.db, { userId: ctx.caller.userId, modelName });
  if (deployment) {
    const server = await findTextServer(ctx.db, deployment.text_server_id);
    return {
      modelName,
      server,
      podId: deployment.id,
      adapter: deployment.adapter_file === null ? null : deployment.revision_id,
      sleeping: deployment.sleeping,
      prices: tokenPrices(server),
    };
  }
  const server = (await findStarterServer(ctx.db, modelName)) ?? (await openStarterServer(ctx, modelName));
  return { modelName, server, podId: null, adapter: null, sleeping: false, prices: tokenPrices(server) };
}

function tokenPrices(server: TextServerRow): Route['prices'] {
  return server.accelerator
    ? { prompt: 'prompt_tokens:GPU', completion: 'completion_tokens:GPU' }
    : { prompt: 'prompt_tokens:CPU', completion: 'completion_tokens:CPU' };
}

/** The first request for a starter model gives its name to the text server of its weights. */
async function openStarterServer(ctx: Context, modelName: string): Promise<TextServerRow> {
  const starter = await findStarterModel(ctx.db, modelName);
  const placement = choosePlacement({ instanceType: 'a100', gpuCount: 1 }, (await readMachine(ctx)).accelerators);
  if (!starter || !placement) {
    throw new AppError('not_found', {
      publicMessage: `There is no model '${modelName}'. GET /v1/models lists those that answer; deploy a model to add it`,
      param: 'model',
    });
  }
  const model = await describeServedModel(ctx, starter.assetId, placement.engine);
  return ctx.db.transaction().execute(async (tx) => {
    const server = await ensureTextServer(tx, model, placement);
    // A newer revision of the starter model takes the name over.
    await tx
      .updateTable('text_servers')
      .set({ starter_asset_id: null, starter_name: null, starter_requested_at: null })
      .where('starter_name', '=', modelName)
      .where('id', '<>', server.id)
      .execute();
    return tx
      .updateTable('text_servers')
      .set({ starter_asset_id: starter.assetId, starter_name: modelName })
      .where('id', '=', server.id)
      .returningAll()
      .executeTakeFirstOrThrow();
  });
}
