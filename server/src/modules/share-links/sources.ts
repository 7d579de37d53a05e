import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import { findReadableAsset } from '../assets/access/find-readable-asset.ts';
import { isCopiedInPublic } from '../assets/sources/sources.ts';

type Source = { dataset_id: string; title: string };

type Openness = {
  /** Everybody with an account here may read it. */
  isPublic: boolean;
  /** It belongs to whoever shares. */
  isOwn: boolean;
  /** It is a copy from a hub on which everybody may read it. */
  isCopy: boolean;
};

const CLOSED: Openness = { isPublic: false, isOwn: false, isCopy: false };

/**
 * The titles of what something was made from. A base model is named by the rule of the cards that runs write: one that everybody
 * may read, here or on the hub that it is a copy from. A dataset is named only while it is published here.
 */
export async function nameMadeFrom(
  ctx: Context,
  { base, dataset }: { base: Source | null; dataset: Source | null },
): Promise<{ base_model: string | null; dataset: string | null }> {
  const [ofBase, ofDataset] = await Promise.all([opennessOf(ctx, base), opennessOf(ctx, dataset)]);
  return {
    base_model: base && (ofBase.isPublic || ofBase.isCopy) ? base.title : null,
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

/** What was deleted, or is not open to the owner any more, is closed. */
async function opennessOf(ctx: Context, source: Source | null): Promise<Openness> {
  if (source === null) return CLOSED;
  const { userId } = ctx.caller;
  const assetId = source.dataset_id;
  try {
    const asset = await findReadableAsset(ctx.db, { assetId, userId });
    return {
      isPublic: asset.is_published || asset.is_starter,
      isOwn: asset.owner_user_id === userId,
      isCopy: await isCopiedInPublic(ctx.db, assetId),
    };
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return CLOSED;
    throw error;
  }
}
