import type { Use } from '@bakehouse/contract/credits';
import type { References } from '../ledger/transfer.ts';

/** A use that is about to start. */
export type Usage = {
  userId: string;
  keyId: string | null;
  use: Use;
  /** The subject of the use: calls of one user and key for the same source share a window. */
  source: string;
  description: string;
  references: References;
  /** Unit prices in micro-BGL: a window has fixed prices, and other prices open another window. */
  unitPrices: readonly bigint[];
  /** The maximum cost. */
  priceMicro: bigint;
};

/** Returns the key of a use. Uses with the same key share a window. */
export function keyOf({ userId, keyId, use, source, unitPrices }: Usage): string {
  return JSON.stringify([userId, keyId, use, source, ...unitPrices.map(String)]);
}
