import type { Use } from '@bakehouse/contract/credits';
import type { AppError } from '../../../platform/errors.ts';
import { toBudgetExceeded } from '../ledger/holds/holds.ts';
import { insufficientFunds } from '../ledger/ledger-answers.ts';
import type { References } from '../ledger/transfer.ts';
import type { HoldOutcome } from './usage-queries.ts';

type Options<Answer> = {
  /** The preferred amount; `leastMicro` is the minimum. */
  wantedMicro: bigint;
  leastMicro: bigint;
  attempt: (micro: bigint) => Promise<Answer>;
  /** Closes the user's idle windows, which releases their holds. Returns false if there were none. */
  makeRoom: () => Promise<boolean>;
};

/**
 * Holds the preferred amount. If the credit is not enough, closes idle windows, and then tries the minimum.
 * Throws AppError 'insufficient_funds' or 'budget_exceeded'.
 */
export async function acquireHold<Answer extends HoldOutcome>({
  wantedMicro,
  leastMicro,
  attempt,
  makeRoom,
}: Options<Answer>): Promise<Answer> {
  let refusal: AppError | null = null;
  const sizes = [
    async () => wantedMicro,
    async () => leastMicro,
    async () => ((await makeRoom()) ? leastMicro : null),
  ];
  for (const size of sizes) {
    const micro = await size();
    if (micro === null) break;
    const answer = await attempt(micro).catch((error: unknown) => {
      refusal = toBudgetExceeded(error);
      if (refusal === null) throw error;
      return null;
    });
    if (answer !== null && answer.outcome !== 'insufficient_funds') return answer;
    if (answer !== null) refusal = insufficientFunds(leastMicro, answer.available);
  }
  throw refusal ?? new Error('Ledger rejected hold without a reason');
}

/** A use that is about to start. */
export type Usage = {
  userId: string;
  keyId: string | null;
  use: Use;
  /** The subject of the use, e.g. a model. Calls with the same user, API key and source share a window. */
  source: string;
  description: string;
  references: References;
  /**
   * Unit prices in micro-BGL. A window has fixed prices, so a call with other prices opens another window.
   */
  unitPrices: readonly bigint[];
  /** The maximum cost of this use. */
  priceMicro: bigint;
};

/** Returns the key of a use. Uses with equal keys share a window. */
export function keyOf({ userId, keyId, use, source, unitPrices }: Usage): string {
  return JSON.stringify([userId, keyId, use, source, ...unitPrices.map(String)]);
}
