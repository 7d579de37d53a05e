import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import type { ChatParts } from '../chat/chat-parts.ts';
import type { ChatBody } from './answer-chat.ts';
import { agreePrices, withAgreedPrices } from './batch-prices.ts';
import { findUpstreamOf } from './find-upstream-of.ts';
import { highestRequestCostMicro } from './highest-cost.ts';

/** Few tokens of a text have more characters. */
const TOKEN_CHARACTERS = 6;

/** A chat with one question, whose length is known. */
export type ChatToQuote = {
  model: string;
  messages: { role: 'user'; content: string }[];
  max_tokens: number;
  temperature: number;
  response_format?: ChatBody['response_format'];
};

/**
 * Returns the maximum cost of chats with one model, and the batch prices for chats that start now. Throws
 * AppError 'model_not_found', and the error of `tooLong` if a chat is certainly longer than the model's
 * context.
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

/** Moves an error about the model to the field of the settings. */
function inSettings(error: unknown): never {
  if (!(error instanceof AppError) || error.param !== 'model') throw error;
  const { code, publicMessage, cause } = error;
  throw new AppError(code, { publicMessage, param: 'settings.model', cause });
}
