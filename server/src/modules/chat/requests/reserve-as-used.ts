import { DEFAULT_ANSWER_TOKENS } from '@bakehouse/contract/limits';
import { isOutOfCredit } from '../../credits/ledger/holds/is-out-of-credit.ts';
import type { TokenPrices } from '../token-prices.ts';
import { answerTokens, type ChoiceBounds, highestCostOfAll } from './highest-cost.ts';

/** Completion tokens to reserve at a time: the default maximum of a chat. */
const STEP_TOKENS = DEFAULT_ANSWER_TOKENS;
/** Reserve more when fewer tokens than this are left. One event has fewer. */
const AHEAD_TOKENS = 256;

/** Returns the price to reserve before a request starts: its prompts, and the first tokens of its answers. */
export function firstCostMicro(prices: TokenPrices, choices: ChoiceBounds[]): bigint {
  return highestCostOfAll(prices, choices, STEP_TOKENS);
}

/**
 * Returns a function to call with the current number of completion tokens. It reserves more before they are
 * used up, so that a long request does not lock its whole cost from the start. It throws AppError
 * 'insufficient_funds' or 'budget_exceeded'; it throws other errors of `extend` only once the reserved tokens
 * are used up.
 */
export function reserveAsUsed(
  { prices, choices }: { prices: TokenPrices; choices: ChoiceBounds[] },
  extend: (priceMicro: bigint) => Promise<void>,
): (completionTokens: number) => Promise<void> {
  const all = answerTokens(choices);
  let reserved = Math.min(STEP_TOKENS, all);
  return async (completionTokens) => {
    if (reserved === all || completionTokens + AHEAD_TOKENS < reserved) return;
    const next = Math.min(completionTokens + STEP_TOKENS, all);
    try {
      await extend(highestCostOfAll(prices, choices, next));
      reserved = next;
    } catch (error) {
      if (isOutOfCredit(error) || completionTokens >= reserved) throw error;
    }
  };
}
