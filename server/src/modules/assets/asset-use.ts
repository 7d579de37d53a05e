import type { Transaction } from '../../platform/db/database.ts';

/**
 * A module's check before an asset is deleted, in the deleting transaction. Returns a sentence if the module
 * uses the asset, otherwise null. The sentence names work of the deleting user, but only counts work of other
 * users (`describeForeignUse`). `userId` is null for an operator on the machine.
 */
export type FindAssetUse = (
  tx: Transaction,
  input: { assetId: string; userId: string | null },
) => Promise<string | null>;

/** Returns a sentence with the number of other users' deployments or runs that use an asset, and advice. */
export function describeForeignUse(count: number, noun: 'deployment' | 'run', userId: string | null): string {
  const use = count === 1 ? `A ${noun} of another user uses it` : `${count} ${noun}s of other users use it`;
  // Starter models have no access that could be revoked.
  if (userId === null) return `${use}. It can be removed once that has ended.`;
  return (
    `${use}. Unpublish it and stop sharing it, so that no more begin: what runs goes on, and you can delete it ` +
    'once that has ended.'
  );
}
