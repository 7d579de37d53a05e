import type { InputOf } from '@bakehouse/contract/endpoint';
import type { createResponse as contract } from '@bakehouse/contract/responses';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { toErrorBody } from '../../../platform/http/send-error.ts';
import { answerCompletion } from '../answer-completion.ts';
import { type AnswerShape, WAITING } from '../answer-shape.ts';
import { type FieldName, renameField } from '../body/rename-field.ts';
import type { ChatParts } from '../chat-parts.ts';
import { keepResponse, readInput } from './kept-responses.ts';
import { ResponseEvents } from './response-events.ts';
import { type Item, type ResponseBody, toChat } from './to-chat.ts';

/** A response is a chat's answer in another shape: one reservation, one bill, one line at the model server. */
export async function createResponse(
  ctx: Context,
  parts: ChatParts,
  { body: asked }: InputOf<typeof contract>,
  http: Http,
): Promise<void> {
  const renamed: { places: string[] } = { places: [] };
  const read = async () => {
    const items = await readInput(ctx, asked);
    const { body, places } = toChat(asked, items);
    renamed.places = places;
    return { path: '/v1/chat/completions' as const, body, shape: responseShape(ctx, asked, items) };
  };
  const question = { model: asked.model, isStream: asked.stream === true, read };
  await answerCompletion(ctx, parts, question, http).catch((error: unknown) => {
    throw renameField(error, { names, places: renamed.places, rest: 'input' });
  });
}

function responseShape(ctx: Context, asked: ResponseBody, items: Item[]): AnswerShape {
  const isKept = ctx.config.responseDays > 0 && asked.store !== false;
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
  return {
    begin: () => events.begin(),
    add: (chunks) => chunks.map((chunk) => events.add(chunk)).join(''),
    cut: () => events.cut(),
    // Whoever has heard of its end may go on from it.
    end: (usage) => events.end(usage, keep),
    whole: (usage) => keep(events.whole(usage)),
    waiting: WAITING,
    failure: (error, requestId) => events.failure(toErrorBody(error, requestId).error),
  };
}

/** What a response calls otherwise than a chat. */
const names: FieldName[] = [
  [/^response_format\.json_schema\b/, 'text.format'],
  [/^response_format\b/, 'text.format'],
  [/^tools\.(\d+)\.function\b/, 'tools.$1'],
  [/^messages$/, 'input'],
  [/^reasoning_effort$/, 'reasoning.effort'],
  [/^verbosity$/, 'text.verbosity'],
];
