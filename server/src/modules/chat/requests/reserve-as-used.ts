import { DEFAULT_ANSWER_TOKENS } from '@bakehouse/contract/limits';
import { isOutOfCredit } from '../../credits/ledger/holds/is-out-of-credit.ts';
import type { TokenPrices } from '../token-prices.ts';
import { answerTokens, type ChoiceBounds, highestCostOfAll } from './highest-cost.ts';

/** Tokens of answers that are reserved at a time: what a chat may have that names no maximum. */
const STEP_TOKENS = DEFAULT_ANSWER_TOKENS;
/** How few of them are left when more are reserved. One event brings less. */
const AHEAD_TOKENS = 256;

/** The price that is reserved for a request before it begins: of its prompts, and of the first tokens of its answers. Pure. */
export function firstCostMicro(prices: TokenPrices, choices: ChoiceBounds[]): bigint {
  return highestCostOfAll(prices, choices, STEP_TOKENS);
}

/**
 * Returns what is called with the tokens that the answers have so far: it reserves more before they reach what is reserved, so that
 * a request which may be long does not lock the credit of all of it from the beginning. That throws AppError 'insufficient_funds' or
 * 'budget_exceeded', and another error of `extend` only once the answers have used up what is reserved.
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
