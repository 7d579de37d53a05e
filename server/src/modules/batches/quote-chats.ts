import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import type { ChatParts } from '../chat/chat-parts.ts';
import type { ChatBody } from './answer-chat.ts';
import { agreePrices, withAgreedPrices } from './batch-prices.ts';
import { findUpstreamOf } from './find-upstream-of.ts';
import { highestRequestCostMicro } from './highest-cost.ts';

/** Hardly a token has more characters of a text. */
const TOKEN_CHARACTERS = 6;

/** A chat of one question, whose length can be seen. */
export type ChatToQuote = {
  model: string;
  messages: { role: 'user'; content: string }[];
  max_tokens: number;
  temperature: number;
  response_format?: ChatBody['response_format'];
};

/**
 * What chats with one model can cost at most, and at which prices those that begin now are answered: those of batches. Throws
 * AppError 'model_not_found', and what `tooLong` makes of the tokens that the model can take where a chat is longer for certain.
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

/** The model is a field of the settings here. */
function inSettings(error: unknown): never {
  if (!(error instanceof AppError) || error.param !== 'model') throw error;
  const { code, publicMessage, cause } = error;
  throw new AppError(code, { publicMessage, param: 'settings.model', cause });
}
