import { CONTEXT_TOKENS } from '@bakehouse/contract/limits';
import type { Logger } from 'pino';
import { costMicro } from '../../credits/prices/cost-micro.ts';
import { askedTokens, type CompletionBody } from '../body/completion-request.ts';
import type { Usage } from '../completion-stream.ts';
import type { TokenPrices } from '../token-prices.ts';
import { toolsOf, toServerTool } from '../tools/asked-tools.ts';

/** What a model's chat template says beside the messages, as a system prompt of its own. Hardly one says more. */
const TEMPLATE_TOKENS = 512;

/** What a chat template says of a tool for each byte of its JSON, which it may write with spaces and line ends. */
const TOOL_TOKENS = 2;

/** Models whose templates say more, as an answer has shown. */
const longTemplates = new WeakSet<object>();

/**
 * How much a request can use at most. A token is a byte at least, and what a template says around a message is
 * shorter than its JSON. The prompt of a model that was found to say more is bounded by the context alone.
 */
export function usageBounds(body: CompletionBody, upstream: object): Usage {
  const { messages, prompt, response_format: format, chat_template_kwargs: kwargs } = body;
  const tools = toolsOf(body)?.tools ?? [];
  const said =
    Buffer.byteLength(JSON.stringify([messages ?? prompt, format, kwargs])) +
    TOOL_TOKENS * Buffer.byteLength(JSON.stringify(tools.map(toServerTool)));
  const promptTokens = longTemplates.has(upstream) ? CONTEXT_TOKENS : said + (messages ? TEMPLATE_TOKENS : 0);
  return {
    promptTokens: Math.min(promptTokens, CONTEXT_TOKENS),
    completionTokens: Math.min(askedTokens(body) ?? CONTEXT_TOKENS, CONTEXT_TOKENS),
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

/** The same of all answers of a request: a prompt is charged once, however many answers to it are asked for. */
export function highestCostOfAll(
  prices: TokenPrices,
  choices: { isFirst: boolean; bounds: Usage }[],
): bigint {
  return choices.reduce((sum, { isFirst, bounds }) => {
    const parts = BigInt(Math.min(bounds.completionTokens, CONTEXT_TOKENS));
    const more = () => costMicro([{ price: prices.completion, parts }]);
    return sum + (isFirst ? highestCostMicro(prices, bounds) : more());
  }, 0n);
}

/** The price that no answer within these bounds exceeds: as much as there can be of what is dearer, and of the other what the context leaves. */
export function highestCostMicro({ prompt, completion }: TokenPrices, bounds: Usage): bigint {
  const isPromptDearer = prompt.unitPriceMicro > completion.unitPriceMicro;
  const promptTokens = isPromptDearer
    ? bounds.promptTokens
    : Math.min(bounds.promptTokens, CONTEXT_TOKENS - bounds.completionTokens);
  const completionTokens = Math.min(bounds.completionTokens, CONTEXT_TOKENS - promptTokens);
  return costMicro([
    { price: prompt, parts: BigInt(promptTokens) },
    { price: completion, parts: BigInt(completionTokens) },
  ]);
}
