import type { Logger } from 'pino';
import { costMicro } from '../../credits/prices/cost-micro.ts';
import { type CompletionBody, maxTokens } from '../body/completion-request.ts';
import { longestPrompt } from '../body/longest-prompt.ts';
import type { Usage } from '../completion-stream.ts';
import type { TokenPrices } from '../token-prices.ts';

/** The maximum usage of a request: prompt, completion, and both together. */
export type UsageBounds = Usage & { contextTokens: number };

/** Models whose templates were observed to add more tokens. */
const longTemplates = new WeakSet<object>();

/** Returns the maximum usage of a request. Only the context limits prompts of long templates. */
export function usageBounds(body: CompletionBody, upstream: { context_tokens: number }): UsageBounds {
  const { context_tokens: contextTokens } = upstream;
  const promptTokens = longTemplates.has(upstream) ? contextTokens : longestPrompt(body);
  return {
    contextTokens,
    promptTokens: Math.min(promptTokens, contextTokens),
    completionTokens: Math.min(maxTokens(body, contextTokens) ?? contextTokens, contextTokens),
  };
}

/**
 * Remembers, while the model is cached, that a prompt was longer than its reservation, and logs it: the
 * answer is charged at most the reserved amount, even if it cost more.
 */
export function noteUsage(
  log: Pick<Logger, 'info'>,
  upstream: { model_name: string },
  bounds: Usage,
  used: Usage,
): void {
  if (used.promptTokens <= bounds.promptTokens || longTemplates.has(upstream)) return;
  longTemplates.add(upstream);
  log.info(
    { model: upstream.model_name, reserved: bounds.promptTokens, used: used.promptTokens },
    'prompt exceeded its reservation',
  );
}

export type ChoiceBounds = { isFirst: boolean; bounds: UsageBounds };

/** Returns the maximum completion tokens of all answers together. */
export function answerTokens(choices: ChoiceBounds[]): number {
  return choices.reduce((sum, { bounds }) => sum + bounds.completionTokens, 0);
}

/**
 * Returns the highest price of all answers of a request, up to `tokensMax` completion tokens in total. A
 * prompt is charged once for all its answers.
 */
export function highestCostOfAll(prices: TokenPrices, choices: ChoiceBounds[], tokensMax = Infinity): bigint {
  let left = tokensMax;
  let sum = 0n;
  for (const { isFirst, bounds } of choices) {
    const completionTokens = Math.min(bounds.completionTokens, left);
    left -= completionTokens;
    sum += isFirst
      ? highestCostMicro(prices, { ...bounds, completionTokens })
      : costMicro([{ price: prices.completion, parts: BigInt(completionTokens) }]);
  }
  return sum;
}

/** Returns the highest price: the maximum of the more expensive tokens, the rest of the context of others. */
export function highestCostMicro({ prompt, completion }: TokenPrices, bounds: UsageBounds): bigint {
  const { contextTokens } = bounds;
  const isPromptDearer = prompt.unitPriceMicro > completion.unitPriceMicro;
  const promptTokens = isPromptDearer
    ? bounds.promptTokens
    : Math.min(bounds.promptTokens, contextTokens - bounds.completionTokens);
  const completionTokens = Math.min(bounds.completionTokens, contextTokens - promptTokens);
  return costMicro([
    { price: prompt, parts: BigInt(promptTokens) },
    { price: completion, parts: BigInt(completionTokens) },
  ]);
}
