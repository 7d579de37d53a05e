import type { Provider } from '@bakehouse/contract/generators';
import { oneAtATime } from '../../../platform/concurrency/one-at-a-time.ts';
import { QUEUE_MOVED } from '../announce-generation.ts';
import { takeTurn } from '../queue/take-turn.ts';
import type { RunningParts } from './attempt.ts';
import { runGeneration } from './run-generation.ts';

/** Signals may be lost, so the loop also looks for work at this interval. */
const TICK_MS = 1_000;

export type GenerationLoop = {
  start: () => void;
  /** Begins no more, and gives back what is being generated, so that another process goes on at once. */
  stop: () => Promise<void>;
};

/** Runs waiting generations: of each queue as many at once as its provider has places, over all processes. */
export function createGenerationLoop({
  services,
  serving,
  places,
  tickMs = TICK_MS,
}: Omit<RunningParts, 'closing'> & { places: Record<Provider, number>; tickMs?: number }): GenerationLoop {
  const closing = new AbortController();
  const parts = { services, serving, closing: closing.signal };
  const atWork = new Map<string, Promise<void>>();
  let stopListening = () => {};
  let ticker: NodeJS.Timeout | undefined;

  function begin(lease: Parameters<typeof runGeneration>[1]): void {
    const work = runGeneration(parts, lease)
      .catch((error: unknown) => services.log.error({ err: error }, 'a picture was left to another process'))
      .finally(() => {
        // Lost and taken again, it is another's by now.
        if (atWork.get(lease.id) === work) atWork.delete(lease.id);
        passes.ask();
      });
    atWork.set(lease.id, work);
  }

  const passes = oneAtATime(
    async () => {
      while (!closing.signal.aborted) {
        const turn = await takeTurn(services, places, [...atWork.keys()]);
        if (turn === null) break;
        if ('lease' in turn) begin(turn.lease);
      }
    },
    (error) => services.log.warn({ err: error }, 'the next generation could not be found'),
  );

  return {
    start: () => {
      stopListening = services.events.onSignal(QUEUE_MOVED, passes.ask);
      ticker = setInterval(passes.ask, tickMs);
      passes.ask();
    },
    stop: async () => {
      closing.abort(new Error('the server ends'));
      stopListening();
      clearInterval(ticker);
      await passes.end();
      await Promise.all(atWork.values());
    },
  };
}
