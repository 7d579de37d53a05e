import type { AssetRevision } from '../../assets/read-revision.ts';

/**
 * True if the model is neither a starter nor the user's: its process must not serve other users' deployments.
 */
export function isStrangers({ asset }: Pick<AssetRevision, 'asset'>, userId: string): boolean {
  return !asset.isStarter && asset.ownerUserId !== userId;
}
