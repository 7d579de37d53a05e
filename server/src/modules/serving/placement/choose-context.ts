import { CONTEXT_TOKENS_MIN, DEFAULT_CONTEXT_TOKENS } from '@bakehouse/contract/limits';
import { refused } from '../../../platform/errors.ts';
import { contextBytes, type ModelContext } from '../../models/context/context-memory.ts';
import type { ServedContext } from '../served-model.ts';
import { PARALLEL_REQUESTS } from '../text-spec.ts';

const GB = 1e9;

/**
 * Returns the context to serve: the requested one, up to the model's maximum. Throws AppError
 * 'invalid_request'.
 */
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
 * Returns the context to serve on the CPU, where llama.cpp reserves it for each concurrent request. Without a
 * requested context, chooses as much as fits next to the weights into memory. Throws AppError
 * 'invalid_request'.
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
