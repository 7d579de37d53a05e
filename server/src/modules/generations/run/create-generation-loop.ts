import type { Provider } from '@bakehouse/contract/generators';
import { createLeaseLoop, type LeaseLoop } from '../../../platform/leases/lease-loop.ts';
import { QUEUE_MOVED } from '../announce-generation.ts';
import { takeTurn } from '../queue/take-turn.ts';
import type { RunningParts } from './attempt.ts';
import { runGeneration } from './run-generation.ts';

/**
 * Creates the loop that runs queued generations; `places` limits each queue of a provider, across all
 * processes.
 */
export function createGenerationLoop({
  services,
  serving,
  places,
  ...pace
}: Omit<RunningParts, 'closing'> & { places: Record<Provider, number>; pollMs?: number }): LeaseLoop {
  return createLeaseLoop(services, {
    name: 'generations',
    ...pace,
    wakeOn: QUEUE_MOVED,
    claims: [
      async (running) => {
        for (;;) {
          const turn = await takeTurn(services, places, running);
          if (turn === null) return null;
          // The generation was ended in the queue: take the next one.
          if ('ended' in turn) continue;
          const { lease } = turn;
          return { id: lease.id, run: (closing) => runGeneration({ services, serving, closing }, lease) };
        }
      },
    ],
  });
}
