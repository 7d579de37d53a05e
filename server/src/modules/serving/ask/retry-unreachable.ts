import { setTimeout as pause } from 'node:timers/promises';
import { ModelServerUnreachable } from './model-server-client.ts';
import { unavailable } from './unavailable.ts';

/** How often, and after which pause, to retry a server that was just replaced or has crashed. */
const TRIES = 10;
const TRY_PAUSE_MS = 300;
/** How often to deliver a request that may have crashed the server. */
const DELIVERIES = 2;
/** Retry interval for callers until the engine declares the machine lost, which takes minutes. */
const AGAIN_MS = 5_000;

/**
 * Repeats attempts, numbered from 1, until one reaches the model server. Throws errors of the attempt,
 * AppError 'unavailable' if none reaches it, with `retryAfterMs` if no request was delivered, and the
 * signal's abort.
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
