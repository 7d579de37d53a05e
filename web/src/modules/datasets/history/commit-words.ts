import type { AssetCommit } from '@bakehouse/contract/asset-commits';

/** Returns the first line of the message. */
export function titleOf({ message }: Pick<AssetCommit, 'message'>): string {
  return message.split('\n')[0]?.trim() || 'No message';
}

export function shortId({ commit_id }: Pick<AssetCommit, 'commit_id'>): string {
  return commit_id.slice(0, 8);
}
