import { setTimeout as pause } from 'node:timers/promises';

/** Often, because tests move the clock by minutes. */
const SIGN_OF_LIFE_MS = 100;

/**
 * For tests: gives signs of life until it is ended, each once the last one is answered: on a busy machine they would pile up.
 * Those that fail do not count.
 */
export function giveSignsOfLife(give: () => Promise<unknown>): () => void {
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
