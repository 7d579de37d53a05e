import { DEFAULT_ANSWER_TOKENS } from '@bakehouse/contract/limits';
import { smallerAmount } from '@bakehouse/contract/money';
import type { Logger } from 'pino';
import type { Context } from '../../../platform/context.ts';
import { isCreditExhausted } from '../../billing/ledger/holds/holds.ts';
import { costMicro } from '../../billing/prices/cost.ts';
import type { Reservation } from '../../billing/usage/usage-leader.ts';
import type { Upstream } from '../../deployments/reach/upstream.ts';
import { type CompletionBody, maxTokens } from '../body/completion-request.ts';
import { longestPrompt } from '../body/limits.ts';
import type { ChatParts } from '../chat-parts.ts';
import type { Usage } from '../completion-stream.ts';
import type { TokenPrices } from '../token-prices.ts';

/** Models whose chat templates have added more tokens than expected. */
const longTemplates = new WeakSet<object>();

/** Completion tokens to reserve at a time: the default maximum of a chat's answer. */
const STEP_TOKENS = DEFAULT_ANSWER_TOKENS;

/** Reserve more when fewer tokens than this are left. A single event never has this many tokens. */
const AHEAD_TOKENS = 256;

type Answered = {
  id: string;
  at: Date;
  ok: boolean;
  usage: Usage;
  firstTokenMs: number | null;
  totalMs: number;
};

/**
 * Returns the amount to reserve before a request starts: the cost of its prompts and of the first tokens of
 * its answers.
 */
export function firstCostMicro(prices: TokenPrices, choices: ChoiceBounds[]): bigint {
  return highestCostOfAll(prices, choices, STEP_TOKENS);
}

/**
 * Returns a function to call with the current number of completion tokens. It reserves more before the
 * reserved tokens are used up, so that a long request does not hold its whole cost from the start. It throws
 * AppError 'insufficient_funds' and 'budget_exceeded' immediately. If `extend` throws another error, the
 * request may continue until the reserved tokens are used up.
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
      if (isCreditExhausted(error) || completionTokens >= reserved) throw error;
    }
  };
}

/**
 * The maximum usage of a request: prompt tokens, completion tokens, and the sum of both (`contextTokens`).
 */
type UsageBounds = Usage & { contextTokens: number };

/**
 * Returns the maximum usage of a request. If the model's template adds many tokens, the prompt may fill the
 * whole context.
 */
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
 * Returns the maximum cost of all answers of a request, with at most `tokensMax` completion tokens in total.
 * All answers to a prompt share its cost.
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

/**
 * Returns the maximum cost: the maximum number of the more expensive tokens, and the rest of the context in
 * tokens of the other kind.
 */
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

/** Settles an answer's usage, up to the reserved amount, and records the request. */
export async function recordRequest(
  ctx: Context,
  { insertRequest }: Pick<ChatParts, 'insertRequest'>,
  {
    upstream,
    reservation,
    prices,
  }: {
    upstream: Pick<Upstream, 'pod_id' | 'model_name'>;
    reservation: Reservation;
    prices: TokenPrices;
  },
  { id, at, ok, usage, firstTokenMs, totalMs }: Answered,
): Promise<void> {
  const { promptTokens, completionTokens } = usage;
  const cost = costMicro([
    { price: prices.prompt, parts: BigInt(promptTokens) },
    { price: prices.completion, parts: BigInt(completionTokens) },
  ]);
  const amountMicro = smallerAmount(cost, reservation.priceMicro);
  const endedAt = ctx.clock.now();
  const quantities = {
    prompt_tokens: promptTokens,
    ...(completionTokens > 0 && { completion_tokens: completionTokens }),
  };
  reservation.settle(amountMicro > 0n ? { id, at: endedAt, amountMicro, quantities } : null);
  await insertRequest({
    id,
    userId: ctx.caller.userId,
    podId: upstream.pod_id,
    modelName: upstream.model_name,
    at,
    endedAt,
    ok,
    promptTokens,
    completionTokens,
    firstTokenMs,
    totalMs,
    costMicro: amountMicro,
  });
}

/**
 * Logs that a prompt was longer than reserved, and remembers the model while it is cached. The answer is
 * charged at most the reserved amount, even if it cost more.
 */
export function recordLongPrompt(
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

type ChoiceBounds = { isFirst: boolean; bounds: UsageBounds };

/** Returns the maximum completion tokens of all answers together. */
function answerTokens(choices: ChoiceBounds[]): number {
  return choices.reduce((sum, { bounds }) => sum + bounds.completionTokens, 0);
}
