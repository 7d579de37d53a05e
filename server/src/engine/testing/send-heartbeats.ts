import { setTimeout as pause } from 'node:timers/promises';

/** Often, because tests move the clock by minutes. */
const SIGN_OF_LIFE_MS = 100;

/**
 * For tests: sends heartbeats until it is ended, each after the previous response, so that they do not pile
 * up on a busy machine. Ignores failures.
 */
export function sendHeartbeats(give: () => Promise<unknown>): () => void {
  let isEnded = false;
  const work = async () => {
    while (!isEnded) {
      await pause(SIGN_OF_LIFE_MS);
      if (!isEnded) await give().catch(() => undefined);
    }
  };
  void work();
  return () => {
    isEnded = true;
  };
}
