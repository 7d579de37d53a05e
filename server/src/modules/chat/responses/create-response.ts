import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import {
  createResponse as contract,
  type countResponseTokens as counting,
} from '@bakehouse/contract/responses';
import type { Context } from '../../../platform/context.ts';
import { Answer } from '../../../platform/http/answer.ts';
import { toErrorBody } from '../../../platform/http/send-error.ts';
import { answerCompletion } from '../answer-completion.ts';
import { type AnswerShape, ignoredWarning, waitingComment } from '../answer-shape.ts';
import { type FieldName, renameField } from '../body/rename-field.ts';
import type { ChatParts } from '../chat-parts.ts';
import { countPrompt } from '../count-prompt.ts';
import type { ToolName } from '../tools/client-tools.ts';
import { ResponseEvents } from './response-events.ts';
import { readInput, saveResponse } from './responses.ts';
import { type Item, type ResponseBody, toChat } from './to-chat.ts';

/** Answers OpenAI's responses call as a chat in another format, with one reservation and one charge. */
export async function createResponse(
  ctx: Context,
  parts: ChatParts,
  { body: asked }: InputOf<typeof contract>,
  client: AbortSignal,
): Promise<Answer<object>> {
  const reading = readChat(ctx, asked);
  const read = async () => {
    const { chat, items, warnings } = await reading.read();
    const shape = responseShape(ctx, { asked, items, clientTools: chat.offered.clientTools });
    return { path: '/v1/chat/completions' as const, body: chat.body, shape, warnings };
  };
  const question = { model: asked.model, isStream: asked.stream === true, read };
  return answerCompletion(ctx, parts, question, client).catch(reading.rename);
}

/** Counts the prompt tokens of a response. Throws AppError 'not_found', 'invalid_request'. */
export async function countResponseTokens(
  ctx: Context,
  parts: ChatParts,
  { body: asked }: InputOf<typeof contract>,
  client: AbortSignal,
): Promise<Answer<ResponseOf<typeof counting>>> {
  const reading = readChat(ctx, asked);
  const read = async () => {
    const { chat, warnings } = await reading.read();
    return { body: chat.body, warnings };
  };
  const question = { model: asked.model, read };
  const { body, headers } = await countPrompt(ctx, parts, question, client).catch(reading.rename);
  return new Answer({ object: 'response.input_tokens', input_tokens: body }, { headers });
}

/**
 * Returns two functions: the first converts a response request into a chat, the second renames the fields in
 * a chat's errors to the response's fields.
 */
function readChat(ctx: Context, asked: ResponseBody) {
  let places: string[] = [];
  let toolPlaces: string[] = [];
  return {
    read: async () => {
      const items = await readInput(ctx, asked);
      const chat = toChat(asked, items);
      places = chat.places;
      toolPlaces = chat.offered.places;
      const warnings = [
        ...ignoredWarning(contract.body, asked),
        ...chat.offered.warnings,
        ...(asked.truncation === 'auto' ? ['ignored truncation: an input that is too long is refused'] : []),
      ];
      return { chat, items, warnings };
    },
    rename: (error: unknown): never => {
      throw renameField(error, { names, places, toolPlaces, rest: 'input' });
    },
  };
}

type ShapeOf = { asked: ResponseBody; items: Item[]; clientTools: Map<string, ToolName> };

function responseShape(ctx: Context, { asked, items, clientTools }: ShapeOf): AnswerShape {
  const isKept = ctx.config.responseDays > 0 && asked.store !== false;
  const events = new ResponseEvents(asked, { createdAt: ctx.clock.now(), isKept, clientTools });
  // If storing fails, the response is still delivered and charged.
  const save = async (response: ReturnType<typeof events.whole>) => {
    if (!isKept) return response;
    try {
      await saveResponse(ctx, { input: items, response });
      return response;
    } catch (error) {
      ctx.log.error({ err: error, model: asked.model }, 'failed to store response');
      return { ...response, store: false };
    }
  };
  return {
    begin: () => events.begin(),
    add: (chunks) => chunks.map((chunk) => events.add(chunk)).join(''),
    cut: () => events.cut(),
    // Store before the last event, because the client may send a follow-up as soon as it has received it.
    end: (usage) => events.end(usage, save),
    whole: (usage) => save(events.whole(usage)),
    waiting: waitingComment,
    failure: (error, requestId) => events.failure(toErrorBody(error, requestId).error),
  };
}

/** Fields of a chat, and their names in a response request. */
const names: FieldName[] = [
  [/^response_format\.json_schema\b/, 'text.format'],
  [/^response_format\b/, 'text.format'],
  [/^(tools[.\w]*\d)\.function\b/, '$1'],
  [/^messages$/, 'input'],
  [/^reasoning_effort$/, 'reasoning.effort'],
  [/^verbosity$/, 'text.verbosity'],
];
