import type { AppError } from '../../../platform/errors.ts';
import { toBudgetExceeded } from '../ledger/holds/within-budget.ts';
import { insufficientFunds } from '../ledger/ledger-answers.ts';
import type { HoldOutcome } from './usage-queries.ts';

type Options<Answer> = {
  /** The preferred and the minimum amount. */
  wantedMicro: bigint;
  leastMicro: bigint;
  attempt: (micro: bigint) => Promise<Answer>;
  /** Releases the holds of the user's idle windows; returns false if there were none. */
  makeRoom: () => Promise<boolean>;
};

/**
 * Holds the preferred amount, or else the minimum, closing idle windows if necessary. Throws AppError
 * 'insufficient_funds' or 'budget_exceeded'.
 */
export async function takeCredit<Answer extends HoldOutcome>({
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
