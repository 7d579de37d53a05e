import type { ModelReadiness } from '@bakehouse/contract/assets';
import type { Context } from '../../platform/context.ts';
import { findReadableAsset } from '../assets/access/find-readable-asset.ts';

/** Returns why a model cannot be used now, as a sentence; null if it can. */
export type FindObstacle = (ctx: Context, input: { assetId: string }) => Promise<string | null>;

export type ModelUses = { deploy: FindObstacle; train: FindObstacle };

/**
 * Returns whether a model can be deployed and trained, judged by its files. A dataset can be used for
 * neither.
 */
export async function getModelReadiness(
  ctx: Context,
  { assetId, uses }: { assetId: string; uses: ModelUses },
): Promise<ModelReadiness> {
  const asset = await findReadableAsset(ctx.db, { assetId, userId: ctx.caller.userId });
  if (asset.dataset_type !== 'MODEL') {
    const sentence = `${asset.title} is a dataset`;
    return { deploy: sentence, train: sentence, lora: false };
  }
  const [deploy, train] = await Promise.all([uses.deploy(ctx, { assetId }), uses.train(ctx, { assetId })]);
  return { deploy, train, lora: asset.is_lora };
}
