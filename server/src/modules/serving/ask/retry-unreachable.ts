import { setTimeout as pause } from 'node:timers/promises';
import { ModelServerUnreachable } from './model-server-client.ts';
import { unavailable } from './unavailable.ts';

/** A server that was just replaced, or has just died, is looked for this often, with this pause. */
const TRIES = 10;
const TRY_PAUSE_MS = 300;
/** What a server may have died of is sent so often. */
const DELIVERIES = 2;
/** A machine that is gone is given up by the engine after minutes: until then it is looked for so often. */
const AGAIN_MS = 5_000;

/**
 * Makes attempts, numbered from 1, until one reaches the model server. Throws what an attempt throws, AppError
 * 'unavailable' where none reaches it, with `retryAfterMs` where it has begun nothing, and the signal's abort.
 */
export async function retryUnreachable<Reached>(
  attempt: (number: number) => Promise<Reached>,
  { modelName, signal }: { modelName: string; signal: AbortSignal },
): Promise<Reached> {
  let deliveries = 0;
  for (let number = 1; ; number += 1) {
    try {
      return await attempt(number);
    } catch (error) {
      if (!(error instanceof ModelServerUnreachable)) throw error;
      if (error.wasDelivered) deliveries += 1;
      if (number === TRIES || deliveries === DELIVERIES)
        throw unavailable(`${modelName} does not answer`, error, deliveries === 0 ? AGAIN_MS : undefined);
    }
    await pause(TRY_PAUSE_MS, undefined, { signal });
  }
}
