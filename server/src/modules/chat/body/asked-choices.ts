import { refused } from '../../../platform/errors.ts';
import type { CompletionBody } from './completion-request.ts';

/** An answer that is asked for, alone: its place among all, and whether it is the first to its prompt. */
export type AskedChoice = { index: number; isFirst: boolean; body: CompletionBody };

/** Answers to all prompts of a request. */
const CHOICES_MAX = 64;

/**
 * The answers that a request asks for, `n` to each prompt, as requests for one each. With a seed each has its own, the first
 * the one that was sent. Throws AppError 'invalid_request'. Pure.
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

/** A list of numbers is one prompt, as token ids; a chat has none. */
function promptsOf(prompt: unknown): unknown[] {
  return Array.isArray(prompt) && typeof prompt[0] !== 'number' ? prompt : [prompt];
}
