import { deployVllm } from '@bakehouse/contract/deployments/text';
import type { Context } from '../../../platform/context.ts';
import { findFineTune } from '../../models/fine-tuned/fine-tuned.ts';
import { deploy } from '../deploy.ts';
import type { WakingParts } from '../end-deployment.ts';
import { findLiveNameOf } from '../find-deployments.ts';
import { findModel } from './find-model.ts';
import { findUpstream, type Upstream } from './upstream.ts';

/**
 * Returns the server of the caller's text model. A fine-tune can be called by its own name: any of its
 * deployments is used, and if there is none, this call deploys it. Throws the errors of `findModel` and
 * `deploy`.
 */
export async function findTextModel(ctx: Context, parts: WakingParts, modelName: string): Promise<Upstream> {
  const { userId } = ctx.caller;
  const fineTune = await findFineTune(ctx.db, { userId, name: modelName });
  const asked = { kind: 'text', userId, modelName } as const;
  if (!fineTune || (await findUpstream(ctx, asked))) return findModel(ctx, parts, asked);
  const live = await findLiveNameOf(ctx.db, { userId, assetId: fineTune.assetId });
  if (live === undefined) await deployFineTune(ctx, parts, { assetId: fineTune.assetId, modelName });
  return findModel(ctx, parts, { kind: 'text', modelName: live ?? modelName });
}

/** Deploys a fine-tune with the web app's default settings, so it sleeps when idle. */
async function deployFineTune(
  ctx: Context,
  parts: WakingParts,
  { assetId, modelName }: { assetId: string; modelName: string },
): Promise<void> {
  const body = deployVllm.body?.parse({ model_id: assetId, user_id: ctx.caller.userId });
  if (!body) throw new Error('deploy call has no body schema');
  // Do not pass the call's idempotency key: if the call is repeated after the deployment has ended, the model
  // must be deployed again.
  await deploy({ ...ctx, idempotencyKey: null }, parts, { kind: 'text', body, modelName });
}
