import type { Use } from '@bakehouse/contract/credits';
import type { References } from '../ledger/transfer.ts';

/** What is about to be used. */
export type Usage = {
  userId: string;
  keyId: string | null;
  use: Use;
  /** What is used: calls of one user and key for the same share a window. */
  source: string;
  description: string;
  references: References;
  /** Micro-BGL of its units: a window keeps the prices that it began with, and others open another one. */
  unitPrices: readonly bigint[];
  /** What it can cost at most. */
  priceMicro: bigint;
};

/** Those with the same key share a window. */
export function keyOf({ userId, keyId, use, source, unitPrices }: Usage): string {
  return JSON.stringify([userId, keyId, use, source, ...unitPrices.map(String)]);
}
