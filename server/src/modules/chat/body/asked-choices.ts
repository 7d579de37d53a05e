import { refused } from '../../../platform/errors.ts';
import type { CompletionBody } from './completion-request.ts';

/** One requested answer: its index among all, and whether it is the first for its prompt. */
export type AskedChoice = { index: number; isFirst: boolean; body: CompletionBody };

/** Answers to all prompts of one request. */
const CHOICES_MAX = 64;

/**
 * Splits a request into one request per answer, `n` for each prompt. Each gets its own seed, starting with
 * the given one. Throws AppError 'invalid_request'.
 */
export function askedChoices(body: CompletionBody): AskedChoice[] {
  const { n, seed, ...asked } = body;
  const each = typeof n === 'number' ? n : 1;
  const prompts = promptsOf(body.prompt);
  if (each * prompts.length > CHOICES_MAX) {
    const sentence = `at most ${CHOICES_MAX} answers per request, which are n for each prompt`;
    throw refused('n', `n: ${sentence}`);
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
