import type { Provider } from '@bakehouse/contract/generators';
import { oneAtATime } from '../../../platform/concurrency/one-at-a-time.ts';
import { LINE_MOVED } from '../announce-generation.ts';
import { type Drawing, drawGeneration } from './draw-generation.ts';
import { takeTurn } from './take-turn.ts';

/** Signals may be lost: this often it is looked whether somebody's turn has come. */
const TICK_MS = 1_000;

/** How many pictures services draw at once: others' machines, each with limits of its own. */
export const UPSTREAM_PICTURES = 16;

export type DrawingLoop = {
  start: () => void;
  /** Begins no more, and gives back what is being drawn, so that another process goes on at once. */
  stop: () => Promise<void>;
};

/** Draws what waits, of each line as many at once as those of its provider have places, over all processes. */
export function createDrawing({
  services,
  serving,
  places,
}: Omit<Drawing, 'closing'> & { places: Record<Provider, number> }): DrawingLoop {
  const closing = new AbortController();
  const drawing = { services, serving, closing: closing.signal };
  const atWork = new Set<Promise<void>>();
  let stopListening = () => {};
  let ticker: NodeJS.Timeout | undefined;

  function begin(lease: Parameters<typeof drawGeneration>[1]): void {
    const work = drawGeneration(drawing, lease)
      .catch((error: unknown) => services.log.error({ err: error }, 'a picture was left to another process'))
      .finally(() => {
        atWork.delete(work);
        passes.ask();
      });
    atWork.add(work);
  }

  const passes = oneAtATime(
    async () => {
      while (!closing.signal.aborted) {
        const turn = await takeTurn(services, places);
        if (turn === null) break;
        if ('lease' in turn) begin(turn.lease);
      }
    },
    (error) => services.log.warn({ err: error }, 'who draws next could not be found'),
  );

  return {
    start: () => {
      stopListening = services.events.onSignal(LINE_MOVED, passes.ask);
      ticker = setInterval(passes.ask, TICK_MS);
      passes.ask();
    },
    stop: async () => {
      closing.abort(new Error('the server ends'));
      stopListening();
      clearInterval(ticker);
      await passes.end();
      await Promise.all(atWork);
    },
  };
}
