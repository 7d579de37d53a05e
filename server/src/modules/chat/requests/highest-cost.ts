import type { Logger } from 'pino';
import { costMicro } from '../../credits/prices/cost-micro.ts';
import { type CompletionBody, maxTokens } from '../body/completion-request.ts';
import { longestPrompt } from '../body/longest-prompt.ts';
import type { Usage } from '../completion-stream.ts';
import type { TokenPrices } from '../token-prices.ts';

/** The most of each that a request may use, and of both together. */
export type UsageBounds = Usage & { contextTokens: number };

/** Models whose templates say more, as an answer has shown. */
const longTemplates = new WeakSet<object>();

/** How much a request can use at most. The prompt of a model whose template was found to say more is bounded by the context alone. */
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
 * Remembers of a model that its prompt was longer than what was reserved for it, as long as the model is kept in
 * memory. That answer may have cost more than was reserved, and is charged no more than that: so it is logged.
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
    'a prompt was longer than what was reserved for it',
  );
}

export type ChoiceBounds = { isFirst: boolean; bounds: UsageBounds };

/** The tokens that all answers of a request may have together. */
export function answerTokens(choices: ChoiceBounds[]): number {
  return choices.reduce((sum, { bounds }) => sum + bounds.completionTokens, 0);
}

/**
 * The highest price of all answers of a request, one after the other, up to so many tokens of them together: a prompt is
 * charged once, however many answers to it are asked for.
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

/** The price that no answer within these bounds exceeds: as much as there can be of what is dearer, and of the other what the context leaves. */
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
