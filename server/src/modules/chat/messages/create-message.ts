import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import {
  countTokens as countTokensEndpoint,
  createMessage as createMessageEndpoint,
} from '@bakehouse/contract/messages';
import type { Context } from '../../../platform/context.ts';
import { invalidParam } from '../../../platform/errors.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { headerText } from '../../../platform/http/callers/find-caller.ts';
import { answerCompletion } from '../answer-completion.ts';
import { type AnswerShape, ignoredWarning } from '../answer-shape.ts';
import type { ChatParts } from '../chat-parts.ts';
import { countPrompt } from '../count-prompt.ts';
import { type Places, renameMessageField, toAnthropicError } from './describe-anthropic-error.ts';
import { MessageEvents, PING } from './message-events.ts';
import { type MessageBody, toChat, toMessageChat } from './to-chat.ts';

/** The first API version with today's stream format. */
const FIRST = '2023-06-01';

/** Answers a message as a chat in Anthropic's shape, with one reservation and one charge. */
export async function createMessage(
  ctx: Context,
  parts: ChatParts,
  { body: asked }: InputOf<typeof createMessageEndpoint>,
  http: Http,
): Promise<void> {
  checkVersion(http);
  let places: Places | null = null;
  const read = () => {
    const chat = toMessageChat(asked);
    places = chat;
    const warnings = [...ignoredWarning(createMessageEndpoint.body, asked), ...chat.warnings];
    return { path: '/v1/chat/completions' as const, body: chat.body, shape: messageShape(asked), warnings };
  };
  const question = { model: asked.model, isStream: asked.stream === true, read };
  await answerCompletion(ctx, parts, question, http).catch((error: unknown) => {
    throw renameMessageField(error, places);
  });
}

function messageShape(asked: MessageBody): AnswerShape {
  const events = new MessageEvents(asked);
  return {
    // The first event contains the prompt tokens, which are known at the first token.
    begin: () => '',
    add: (chunks, answer) => events.add(chunks, answer),
    cut: () => events.cut(),
    end: (usage) => events.end(usage),
    whole: (usage) => events.whole(usage),
    waiting: PING,
    failure: (error, requestId) =>
      `event: error\ndata: ${JSON.stringify(toAnthropicError(error, requestId))}\n\n`,
  };
}

/** Counts the prompt tokens of a message. */
export async function countTokens(
  ctx: Context,
  parts: ChatParts,
  { body: asked }: InputOf<typeof countTokensEndpoint>,
  http: Http,
): Promise<ResponseOf<typeof countTokensEndpoint>> {
  checkVersion(http);
  let places: Places | null = null;
  const read = () => {
    const chat = toChat(asked);
    places = chat;
    return {
      body: chat.body,
      warnings: [...ignoredWarning(countTokensEndpoint.body, asked), ...chat.warnings],
    };
  };
  const tokens = await countPrompt(ctx, parts, { model: asked.model, read }, http).catch((error: unknown) => {
    throw renameMessageField(error, places);
  });
  return { input_tokens: tokens };
}

/** Sets the request id header. Throws AppError 'invalid_request' for an older version of Anthropic's API. */
function checkVersion({ request, reply }: Http): void {
  reply.header('request-id', request.id);
  const version = headerText(request.headers['anthropic-version']) ?? FIRST;
  if (/^\d{4}-\d{2}-\d{2}$/.test(version) && version >= FIRST) return;
  throw invalidParam(
    'anthropic-version',
    `anthropic-version: this server speaks ${FIRST} and what came after`,
  );
}
