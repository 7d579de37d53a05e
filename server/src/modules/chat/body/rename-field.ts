import { AppError, invalidParam } from '../../../platform/errors.ts';
import type { CompletionBody } from './completion-request.ts';

/** Maximum answers of one request, over all of its prompts. */
const CHOICES_MAX = 64;

/** A field of the chat, and its name in another endpoint. */
export type FieldName = [ofChat: RegExp, name: string];

type Names = {
  names: FieldName[];
  /** The field of the sent body from which each chat message comes. Defaults to the chat's own field. */
  places?: string[];
  /** The field for messages that have no such field. */
  rest?: string;
  /** The field of the sent body from which each of the chat's tools comes. */
  toolPlaces?: string[] | undefined;
};

/**
 * Renames an error's field to the field that the caller sent. For endpoints that convert their request into a
 * chat.
 */
export function renameField(error: unknown, { names, places, rest, toolPlaces }: Names): unknown {
  if (!(error instanceof AppError) || error.param === null) return error;
  const { param, publicMessage } = error;
  const sent = param.replace(/^tools\.(\d+)/, (same, index) => toolPlaces?.[Number(index)] ?? same);
  const [, index, below = ''] = /^messages\.(\d+)(.*)$/.exec(param) ?? [];
  const [from, to] = names.find(([ofChat]) => ofChat.test(sent)) ?? [/^$/, ''];
  const name =
    index === undefined || !places ? sent.replace(from, to) : (places[Number(index)] ?? rest) + below;
  return new AppError(error.code, {
    publicMessage: publicMessage.replaceAll(param, name),
    param: name,
    data: error.data,
    cause: error.cause,
    shouldRetry: error.shouldRetry,
    ...(error.retryAfterMs !== null && { retryAfterMs: error.retryAfterMs }),
  });
}

/**
 * The request for one answer: its index in the whole request, and whether it is the first answer to its
 * prompt.
 */
export type ChoiceRequest = { index: number; isFirst: boolean; body: CompletionBody };

/**
 * Splits a request into one request per answer. Each prompt has `n` answers. Each answer gets its own seed:
 * the requested one, plus its index. Throws AppError 'invalid_request'.
 */
export function splitChoices(body: CompletionBody): ChoiceRequest[] {
  const { n, seed, ...asked } = body;
  const each = typeof n === 'number' ? n : 1;
  const prompts = promptsOf(body.prompt);
  if (each * prompts.length > CHOICES_MAX) {
    const sentence = `at most ${CHOICES_MAX} answers per request, which are n for each prompt`;
    throw invalidParam('n', `n: ${sentence}`);
  }
  return prompts.flatMap((prompt, place) =>
    Array.from({ length: each }, (_, number) => ({
      index: place * each + number,
      isFirst: number === 0,
      body: {
        ...asked,
        ...(prompt !== undefined && { prompt }),
        ...(typeof seed === 'number' && { seed: seed + number }),
      },
    })),
  );
}

/** Returns the prompts of a request. A list of numbers is a single prompt of token ids. A chat has none. */
function promptsOf(prompt: unknown): unknown[] {
  return Array.isArray(prompt) && typeof prompt[0] !== 'number' ? prompt : [prompt];
}
