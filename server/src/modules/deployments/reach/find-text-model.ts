import { deployVllm } from '@bakehouse/contract/deployments/text';
import type { Context } from '../../../platform/context.ts';
import { findFineTune } from '../../models/fine-tuned/steps.ts';
import { deploy } from '../deploy.ts';
import { findLiveNameOf } from '../find-deployments.ts';
import type { WakingParts } from '../waking-parts.ts';
import { findModel } from './find-model.ts';
import { findUpstream, type Upstream } from './upstream.ts';

/**
 * Where the text model of that name answers the caller. A fine-tune of theirs is asked by its own name, too: at whichever
 * deployment of it there is, else at one that this call makes. Throws what `findModel` and `deploy` throw.
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

/** As the web app deploys it; it sleeps while nobody asks. */
async function deployFineTune(
  ctx: Context,
  parts: WakingParts,
  { assetId, modelName }: { assetId: string; modelName: string },
): Promise<void> {
  const body = deployVllm.body?.parse({ model_id: assetId, user_id: ctx.caller.userId });
  if (!body) throw new Error('models are deployed without a body');
  // The key of a chat is its own: the same one may deploy anew what has ended since.
  await deploy({ ...ctx, idempotencyKey: null }, parts, { kind: 'text', body, modelName });
}
