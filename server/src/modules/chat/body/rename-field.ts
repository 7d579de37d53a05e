import { AppError, invalidParam } from '../../../platform/errors.ts';
import type { CompletionBody } from './completion-request.ts';

/** Answers to all prompts of one request. */
const CHOICES_MAX = 64;

/** Maps a field of the chat to its name in another endpoint. */
export type FieldName = [ofChat: RegExp, name: string];

type Names = {
  names: FieldName[];
  /** The path of each chat message in the body. Defaults to the same path. */
  places?: string[];
  /** The field for messages without a path. */
  rest?: string;
  /** The path of each of the chat's tools in the body. */
  toolPlaces?: string[] | undefined;
};

/** Returns the error with the sent field's name, for endpoints that are answered as a chat. */
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

/** One requested answer: its index among all, and whether it is the first for its prompt. */
export type ChoiceRequest = { index: number; isFirst: boolean; body: CompletionBody };

/**
 * Splits a request into one request per answer, `n` for each prompt. Each gets its own seed, starting with
 * the given one. Throws AppError 'invalid_request'.
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

/** A list of numbers is one prompt of token ids. A chat has no prompt. */
function promptsOf(prompt: unknown): unknown[] {
  return Array.isArray(prompt) && typeof prompt[0] !== 'number' ? prompt : [prompt];
}
