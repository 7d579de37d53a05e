import { CONTEXT_TOKENS_MIN, DEFAULT_CONTEXT_TOKENS } from '@bakehouse/contract/limits';
import { refused } from '../../../platform/errors.ts';
import { contextBytes, type ModelContext } from '../../models/context/context-memory.ts';
import type { ServedContext } from '../served-model.ts';
import { PARALLEL_REQUESTS } from '../text-spec.ts';

const GB = 1e9;

/** The context that a model is served with: what is asked for, which it must have been made to read. Throws AppError 'invalid_request'. Pure. */
export function chooseContext(
  title: string,
  { positions }: ModelContext,
  asked: number | undefined,
): ServedContext {
  if (asked !== undefined && positions !== null && asked > positions) {
    throw refused(
      'context_tokens',
      `context_tokens must be at most ${positions}: ${title} was made to read no more`,
    );
  }
  return { tokens: asked ?? Math.min(DEFAULT_CONTEXT_TOKENS, positions ?? Infinity), max: positions };
}

type OnCpu = { asked: number | undefined; memoryBytes: number | undefined };

/**
 * The same on the CPU, where llama.cpp keeps that many tokens of each of the requests that it answers at once: what is not asked for
 * is as much as fits beside the weights into the memory that work may use. Throws AppError 'invalid_request'. Pure.
 */
export function chooseCpuContext(
  { title, weightsBytes }: { title: string; weightsBytes: number },
  model: ModelContext,
  { asked, memoryBytes = Infinity }: OnCpu,
): ServedContext {
  const wanted = chooseContext(title, model, asked);
  const needed = (tokens: number) => weightsBytes + PARALLEL_REQUESTS.llamacpp * contextBytes(model, tokens);
  let fitting = wanted.tokens;
  while (needed(fitting) > memoryBytes && fitting > CONTEXT_TOKENS_MIN) fitting = Math.ceil(fitting / 2);
  if (asked !== undefined && fitting < asked) {
    throw refused(
      'context_tokens',
      `context_tokens: ${asked} tokens of ${title} need ${Math.ceil(needed(asked) / GB)} GB of memory, and this machine has ` +
        `${Math.floor(memoryBytes / GB)} GB. Ask for ${fitting}`,
    );
  }
  return { ...wanted, tokens: fitting };
}
