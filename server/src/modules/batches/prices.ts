import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import { costMicro } from '../billing/prices/cost.ts';
import type { PriceList } from '../billing/prices/prices.ts';
import { splitChoices } from '../chat/body/rename-field.ts';
import type { ChatParts } from '../chat/chat-parts.ts';
import { toInputs, tokensMax } from '../chat/embeddings/embedding-inputs.ts';
import { highestCostOfAll, usageBounds } from '../chat/requests/requests.ts';
import { readInput } from '../chat/responses/responses.ts';
import { toChat } from '../chat/responses/to-chat.ts';
import { tokenPrices } from '../chat/token-prices.ts';
import { withFunctions } from '../chat/tools/chat-tools.ts';
import type { Upstream } from '../deployments/reach/upstream.ts';
import type { ChatBody } from './answer-chat.ts';
import { findUpstreamOf } from './answer-request.ts';
import { agreePrices, withAgreedPrices } from './batch-prices.ts';
import type { RequestBody } from './request-bodies.ts';

/** Most tokens have at most this many characters. Used to estimate the minimum number of tokens of a text. */
const TOKEN_CHARACTERS = 6;

/** Returns the maximum cost of a request of a batch on the model's device. */
export async function highestRequestCostMicro(
  ctx: Context,
  asked: RequestBody,
  { prices, upstream }: { prices: PriceList; upstream: Pick<Upstream, 'accelerator' | 'context_tokens'> },
): Promise<bigint> {
  if (asked.endpoint === '/v1/embeddings') {
    const price = prices[`embedding_tokens:${upstream.accelerator ? 'GPU' : 'CPU'}`];
    return costMicro([
      { price, parts: BigInt(tokensMax(toInputs(asked.body.input), upstream.context_tokens)) },
    ]);
  }
  const chat =
    asked.endpoint === '/v1/responses'
      ? toChat(asked.body, await readInput(ctx, asked.body)).body
      : withFunctions(asked.body).body;
  const choices = splitChoices(chat).map(({ isFirst, body }) => ({
    isFirst,
    bounds: usageBounds(body, upstream),
  }));
  return highestCostOfAll(tokenPrices(upstream, prices), choices);
}

/** A chat with one question, whose cost can be calculated in advance. */
export type ChatToQuote = {
  model: string;
  messages: { role: 'user'; content: string }[];
  max_tokens: number;
  temperature: number;
  response_format?: ChatBody['response_format'];
};

/**
 * Returns the maximum total cost of chats with one model, and the batch prices that are agreed now. Throws
 * AppError 'model_not_found', and `tooLong` if a chat certainly exceeds the model's context.
 */
export async function quoteChats(
  ctx: Context,
  chat: ChatParts,
  {
    model,
    bodies,
    tooLong,
  }: {
    model: string;
    bodies: ChatToQuote[];
    tooLong: (contextTokens: number) => AppError;
  },
): Promise<{ highestMicro: bigint; prices: Record<string, string> }> {
  const listed = await chat.recallPrices();
  const agreed = agreePrices(listed);
  const prices = withAgreedPrices(listed, agreed);
  const upstream = await findUpstreamOf(ctx, chat, { url: '/v1/chat/completions', model }).catch(inSettings);
  let highestMicro = 0n;
  for (const body of bodies) {
    const characters = body.messages.reduce((sum, { content }) => sum + content.length, 0);
    if (characters / TOKEN_CHARACTERS + body.max_tokens > upstream.context_tokens)
      throw tooLong(upstream.context_tokens);
    const asked = { endpoint: '/v1/chat/completions' as const, body };
    highestMicro += await highestRequestCostMicro(ctx, asked, { prices, upstream });
  }
  return { highestMicro, prices: agreed };
}

/** Rethrows an error about the model for the field of the settings. */
function inSettings(error: unknown): never {
  if (!(error instanceof AppError) || error.param !== 'model') throw error;
  const { code, publicMessage, cause } = error;
  throw new AppError(code, { publicMessage, param: 'settings.model', cause });
}
