import type { InputOf } from '@bakehouse/contract/endpoint';
import type { createResponse as contract } from '@bakehouse/contract/responses';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { answerCompletion } from '../answer-completion.ts';
import type { AnswerShape } from '../answer-shape.ts';
import type { ChatParts } from '../chat-parts.ts';
import { keepResponse, readInput } from './kept-responses.ts';
import { ResponseEvents } from './response-events.ts';
import { toChat } from './to-chat.ts';

/** A response is a chat's answer in another shape: one reservation, one bill, one line at the model server. */
export async function createResponse(
  ctx: Context,
  parts: ChatParts,
  { body: asked }: InputOf<typeof contract>,
  http: Http,
): Promise<void> {
  const isKept = ctx.config.responseDays > 0 && asked.store !== false;
  const items = await readInput(ctx, asked);
  const { body, places } = toChat(asked, items);
  const events = new ResponseEvents(asked, ctx.clock.now(), isKept);
  // What was answered is delivered and charged, whether or not it can be stored.
  const keep = async (response: ReturnType<typeof events.whole>) => {
    if (!isKept) return response;
    try {
      await keepResponse(ctx, { input: items, response });
      return response;
    } catch (error) {
      ctx.log.error({ err: error, model: asked.model }, 'a response could not be stored');
      return { ...response, store: false };
    }
  };
  const shape: AnswerShape = {
    begin: () => events.begin(),
    chunks: (chunks) => chunks.map((chunk) => events.add(chunk)).join(''),
    // Whoever has heard of its end may go on from it.
    end: (usage) => events.end(usage, keep),
    failure: ({ error }) => events.failure(error),
    whole: (answer, usage) => {
      events.add(toChunk(answer as Answer));
      return keep(events.whole(usage));
    },
  };
  try {
    await answerCompletion(ctx, parts, { path: '/v1/chat/completions', body, shape }, http);
  } catch (error) {
    throw error instanceof AppError ? renamed(error, places) : error;
  }
}

type Answer = {
  choices: {
    message: { content: string | null; reasoning_content?: string; tool_calls?: Call[] };
    finish_reason: string | null;
  }[];
};
type Call = { id: string; type: 'function'; function: { name: string; arguments: string } };

/** An answer in one piece, as if all of it had come at once. */
function toChunk({ choices }: Answer): Parameters<ResponseEvents['add']>[0] {
  return {
    choices: choices.map(({ message: { tool_calls: calls, ...said }, finish_reason }) => ({
      ...{ index: 0, finish_reason },
      delta: { ...said, ...(calls && { tool_calls: calls.map((call, index) => ({ index, ...call })) }) },
    })),
  };
}

/** What a response calls otherwise than a chat. */
const names: [ofChat: RegExp, name: string][] = [
  [/^response_format\.json_schema\b/, 'text.format'],
  [/^response_format\b/, 'text.format'],
  [/^tools\.(\d+)\.function\b/, 'tools.$1'],
  [/^messages$/, 'input'],
];

/** The same error about the field that was sent. */
function renamed(error: AppError, places: string[]): AppError {
  const { param, publicMessage } = error;
  if (param === null) return error;
  const [, index, rest = ''] = /^messages\.(\d+)(.*)$/.exec(param) ?? [];
  const [from, to] = names.find(([ofChat]) => ofChat.test(param)) ?? [/^$/, ''];
  const name = index === undefined ? param.replace(from, to) : (places[Number(index)] ?? 'input') + rest;
  return new AppError(error.code, {
    publicMessage: publicMessage.replace(param, name),
    param: name,
    data: error.data,
    cause: error.cause,
    shouldRetry: error.shouldRetry,
    ...(error.retryAfterMs !== null && { retryAfterMs: error.retryAfterMs }),
  });
}
