import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import {
  countTokens as countTokensEndpoint,
  createMessage as createMessageEndpoint,
} from '@bakehouse/contract/messages';
import { answerCompletion } from '../../modules/chat/answer-completion.ts';
import { type AnswerShape, ignoredWarning } from '../../modules/chat/answer-shape.ts';
import type { ChatParts } from '../../modules/chat/chat-parts.ts';
import { countPrompt } from '../../modules/chat/count-prompt.ts';
import type { Context } from '../../platform/context.ts';
import { invalidParam } from '../../platform/errors.ts';
import { Answer } from '../../platform/http/answer.ts';

import { type Places, renameMessageField, toAnthropicError } from './describe-anthropic-error.ts';
import { MessageEvents, PING } from './message-events.ts';
import { type MessageBody, toChat, toMessageChat } from './to-chat.ts';

/** The first API version that has today's stream format. */
const FIRST = '2023-06-01';

/** The API version that the client sent, and a signal that aborts when the client disconnects. */
export type MessageCall = { version: string | undefined; client: AbortSignal };

/** Answers a message with a chat, in Anthropic's format. Reserves and charges credits once. */
export async function createMessage(
  ctx: Context,
  parts: ChatParts,
  { body: asked }: InputOf<typeof createMessageEndpoint>,
  { version, client }: MessageCall,
): Promise<Answer<object>> {
  assertVersion(version);
  let places: Places | null = null;
  const read = () => {
    const chat = toMessageChat(asked);
    places = chat;
    const warnings = [...ignoredWarning(createMessageEndpoint.body, asked), ...chat.warnings];
    return { path: '/v1/chat/completions' as const, body: chat.body, shape: messageShape(asked), warnings };
  };
  const question = { model: asked.model, isStream: asked.stream === true, read };
  const { body, headers } = await answerCompletion(ctx, parts, question, client).catch((error: unknown) => {
    throw renameMessageField(error, places);
  });
  return new Answer(body, { headers: { ...headers, 'request-id': ctx.requestId } });
}

function messageShape(asked: MessageBody): AnswerShape {
  const events = new MessageEvents(asked);
  return {
    // The first event contains the number of prompt tokens, which is known when the first token arrives.
    begin: () => '',
    add: (chunks, answer) => events.add(chunks, answer),
    cut: () => events.cut(),
    end: (usage) => events.end(usage),
    whole: (usage) => events.whole(usage),
    waiting: () => PING,
    failure: (error, requestId) =>
      `event: error\ndata: ${JSON.stringify(toAnthropicError(error, requestId))}\n\n`,
  };
}

/** Counts the prompt tokens of a message. */
export async function countTokens(
  ctx: Context,
  parts: ChatParts,
  { body: asked }: InputOf<typeof countTokensEndpoint>,
  { version, client }: MessageCall,
): Promise<Answer<ResponseOf<typeof countTokensEndpoint>>> {
  assertVersion(version);
  let places: Places | null = null;
  const read = () => {
    const chat = toChat(asked);
    places = chat;
    return {
      body: chat.body,
      warnings: [...ignoredWarning(countTokensEndpoint.body, asked), ...chat.warnings],
    };
  };
  const { body, headers } = await countPrompt(ctx, parts, { model: asked.model, read }, client).catch(
    (error: unknown) => {
      throw renameMessageField(error, places);
    },
  );
  return new Answer({ input_tokens: body }, { headers: { ...headers, 'request-id': ctx.requestId } });
}

/** Throws AppError 'invalid_request' for an older version of Anthropic's API. */
function assertVersion(version = FIRST): void {
  if (/^\d{4}-\d{2}-\d{2}$/.test(version) && version >= FIRST) return;
  throw invalidParam(
    'anthropic-version',
    `anthropic-version: this server speaks ${FIRST} and what came after`,
  );
}
