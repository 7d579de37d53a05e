import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import { findReadableAsset } from '../assets/access/find-readable-asset.ts';

type Source = { dataset_id: string; title: string };

/** Whether all may know of it that have an account here, and whether it is the owner's own. */
type Openness = { isPublic: boolean; isOwn: boolean };

/**
 * The titles of what something was made from. A base model is named where everybody may know it or it is the owner's own; a
 * dataset only where it is published, whosever it is: who shares a run need not think of what it has read.
 */
export async function nameMadeFrom(
  ctx: Context,
  { base, dataset }: { base: Source | null; dataset: Source | null },
): Promise<{ base_model: string | null; dataset: string | null }> {
  const [ofBase, ofDataset] = await Promise.all([opennessOf(ctx, base), opennessOf(ctx, dataset)]);
  return {
    base_model: base && (ofBase.isPublic || ofBase.isOwn) ? base.title : null,
    dataset: dataset && ofDataset.isPublic ? dataset.title : null,
  };
}

/**
 * Whether rows of all these datasets may be shown to whoever has a link. What others have published is for the users of this
 * server, and not for the sharer to show to anybody.
 */
export async function mayShowRows(ctx: Context, datasets: Source[]): Promise<boolean> {
  const each = await Promise.all(datasets.map((dataset) => opennessOf(ctx, dataset)));
  return each.every(({ isPublic, isOwn }) => isPublic && isOwn);
}

/** Of what was deleted, or is not open to the owner any more, nothing is public. */
async function opennessOf(ctx: Context, source: Source | null): Promise<Openness> {
  const { userId } = ctx.caller;
  try {
    if (source === null) return { isPublic: false, isOwn: false };
    const asset = await findReadableAsset(ctx.db, { assetId: source.dataset_id, userId });
    return { isPublic: asset.is_published || asset.is_starter, isOwn: asset.owner_user_id === userId };
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return { isPublic: false, isOwn: false };
    throw error;
  }
}
