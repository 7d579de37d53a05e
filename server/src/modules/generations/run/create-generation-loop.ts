import type { Provider } from '@bakehouse/contract/generators';
import { createLeaseLoop, type LeaseLoop } from '../../../platform/leases/lease-loop.ts';
import { QUEUE_MOVED } from '../announce-generation.ts';
import { takeTurn } from '../queue/take-turn.ts';
import type { RunningParts } from './attempt.ts';
import { runGeneration } from './run-generation.ts';

/** Runs queued generations; `places` limits each queue of a provider, over all processes. */
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
          // A generation that ended in the queue leaves its turn to the next one.
          if ('ended' in turn) continue;
          const { lease } = turn;
          return { id: lease.id, run: (closing) => runGeneration({ services, serving, closing }, lease) };
        }
      },
    ],
  });
}
