import type { InputOf } from '@bakehouse/contract/endpoint';
import { createMessage as contract } from '@bakehouse/contract/messages';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { answerCompletion } from '../answer-completion.ts';
import type { AnswerShape } from '../answer-shape.ts';
import type { ChatParts } from '../chat-parts.ts';
import { ignoredWarning } from '../warnings.ts';
import { checkVersion } from './check-version.ts';
import { toAnthropicError } from './describe-anthropic-error.ts';
import { MessageEvents, PING } from './message-events.ts';
import { type Places, renameMessageField } from './rename-message-field.ts';
import { type MessageBody, toMessageChat } from './to-chat.ts';

/** Answers a message as a chat in Anthropic's shape, with one reservation and one charge. */
export async function createMessage(
  ctx: Context,
  parts: ChatParts,
  { body: asked }: InputOf<typeof contract>,
  http: Http,
): Promise<void> {
  checkVersion(http);
  let places: Places | null = null;
  const read = () => {
    const chat = toMessageChat(asked);
    places = chat;
    const warnings = [...ignoredWarning(contract.body, asked), ...chat.warnings];
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
