import type { Database } from '../../platform/db/database.ts';
import type { Capacity } from '../model/capacity.ts';
import { listMachines } from './queries.ts';

/**
 * Returns the combined capacity of the machine and its cluster. GPUs are listed by machine, because a
 * workload uses the GPUs of one machine. `own` is called if neither has published an offer yet.
 */
export async function installationCapacity(db: Database, own: () => Promise<Capacity>): Promise<Capacity> {
  const machines = await listMachines(db);
  const present = machines.filter(({ isPresent }) => isPresent);
  // If none is present, for example during a restart, use the last known offers.
  const offers = (present.length > 0 ? present : machines).flatMap(({ offer }) =>
    offer ? [offer.capacity] : [],
  );
  return offers.length === 0 ? own() : sumCapacities(offers);
}

export function sumCapacities(capacities: Capacity[]): Capacity {
  const memories = capacities.flatMap(({ cpuMemoryBytes }) => cpuMemoryBytes ?? []);
  const sum = (name: 'cpu:run' | 'cpu:deployment') =>
    capacities.reduce((total, capacity) => total + (capacity[name] ?? 0), 0);
  return {
    'cpu:run': sum('cpu:run'),
    'cpu:deployment': sum('cpu:deployment'),
    gpus: capacities.flatMap(({ gpus = [] }) => gpus),
    // A model has to fit into one machine.
    ...(memories.length > 0 && { cpuMemoryBytes: Math.max(...memories) }),
    servesTextOnGpus: capacities.some(({ servesTextOnGpus }) => servesTextOnGpus),
  };
}
