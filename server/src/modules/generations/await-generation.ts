import { setTimeout as pause } from 'node:timers/promises';
import type { Generation } from '@bakehouse/contract/generations';
import type { Context } from '../../platform/context.ts';
import { untilKeyEnds } from '../../platform/http/callers/until-key-ends.ts';
import { getGeneration } from './get-generation.ts';
import { hasEnded } from './queries.ts';

/** Polling interval, because an event may be lost with its connection. */
const LOOK_EVERY_MS = 2_000;

/**
 * Returns the generation once it has ended, or in its current state on timeout or abort. Throws AppError
 * 'not_found', and 'unauthenticated' if the API key expires while waiting.
 */
export async function awaitGeneration(
  ctx: Context,
  id: string,
  { ms, signal }: { ms: number; signal?: AbortSignal },
): Promise<Generation> {
  const { userId } = ctx.caller;
  const key = untilKeyEnds(ctx);
  const over = AbortSignal.any([AbortSignal.timeout(ms), key.signal, ...(signal ? [signal] : [])]);
  let changed = new AbortController();
  const stop = ctx.events.subscribe(userId, (event) => {
    if (event.topic === 'generation' && event.id === id) changed.abort();
  });
  try {
    for (;;) {
      const change = AbortSignal.any([over, changed.signal]);
      const isUnderWay = (await hasEnded(ctx.db, { id, userId })) === false;
      key.signal.throwIfAborted();
      if (!isUnderWay || over.aborted) return await getGeneration(ctx, { id });
      await pause(LOOK_EVERY_MS, undefined, { signal: change }).catch(() => undefined);
      changed = new AbortController();
    }
  } finally {
    stop();
    key.stop();
  }
}
