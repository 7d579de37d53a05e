import type { Transaction } from '../../platform/db/database.ts';

/**
 * Asked before an asset is deleted, inside that transaction, by the modules whose work uses
 * assets. Answers with the sentence that says what uses it, or null. It names what is the user's who deletes it, null an
 * operator at the machine; of others' it says how many there are (`foreignUse`).
 */
export type FindAssetUse = (
  tx: Transaction,
  input: { assetId: string; userId: string | null },
) => Promise<string | null>;

/** Says how much of others' work uses an asset, without their names, and what whoever deletes it can do. Pure. */
export function foreignUse(count: number, noun: 'deployment' | 'run', userId: string | null): string {
  const use = count === 1 ? `A ${noun} of another user uses it` : `${count} ${noun}s of other users use it`;
  // What everybody has has no access to end.
  if (userId === null) return `${use}. It can be removed once that has ended.`;
  return (
    `${use}. Unpublish it and stop sharing it, so that no more begin: what runs goes on, and you can delete it ` +
    'once that has ended.'
  );
}
