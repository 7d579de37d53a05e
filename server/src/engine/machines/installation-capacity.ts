import type { Database } from '../../platform/db/database.ts';
import type { Capacity } from '../model/capacity.ts';
import { listMachines } from './queries.ts';

/**
 * What the machine and its cluster have together. GPUs are listed by machine, since one workload uses those of one. `own` is called
 * where neither has offered anything yet.
 */
export async function installationCapacity(db: Database, own: () => Promise<Capacity>): Promise<Capacity> {
  const machines = await listMachines(db);
  const present = machines.filter(({ isPresent }) => isPresent);
  // While none is there, as in a restart, work goes where it would have gone before.
  const offers = (present.length > 0 ? present : machines).flatMap(({ offer }) =>
    offer ? [offer.capacity] : [],
  );
  return offers.length === 0 ? own() : sumCapacities(offers);
}

/** Pure. */
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
