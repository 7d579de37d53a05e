import type { AppError } from '../../../platform/errors.ts';
import { toBudgetExceeded } from '../ledger/holds/within-budget.ts';
import { insufficientFunds } from '../ledger/ledger-answers.ts';
import type { HoldOutcome } from './usage-queries.ts';

type Options<Answer> = {
  /** What had better be held, and what must be. */
  wantedMicro: bigint;
  leastMicro: bigint;
  attempt: (micro: bigint) => Promise<Answer>;
  /** Gives back what the user's idle windows hold; false where there was nothing. */
  makeRoom: () => Promise<boolean>;
};

/**
 * Holds as much as is wanted, else the least, for which idle windows make room where they must. Throws
 * AppError 'insufficient_funds' or 'budget_exceeded'.
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
  throw refusal ?? new Error('The ledger refused a hold without a word');
}
