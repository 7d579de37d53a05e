import type { AssetRevision } from '../../assets/read-revision.ts';

/** Whether a model is neither everybody's nor the user's own: nobody else's deployment may be in its process. Pure. */
export function isStrangers({ asset }: Pick<AssetRevision, 'asset'>, userId: string): boolean {
  return !asset.isStarter && asset.ownerUserId !== userId;
}
