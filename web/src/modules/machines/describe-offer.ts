import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { listMachines } from '@bakehouse/contract/machines';
import { countOf } from '../../lib/format/count-of.ts';

/** A machine as shown to its operator. */
export type ListedMachine = ResponseOf<typeof listMachines>['machines'][number];

/** Describes a machine's hardware and the number of concurrent tasks it accepts. */
export function describeOffer(offer: NonNullable<ListedMachine['offer']>): { parts: string; slots: string } {
  const gpus = offer.accelerators.map(({ label, count }) => `${count} × ${label}`);
  const cores = countOf(offer.cpu.cores, 'core');
  const memory = `${Math.round(offer.cpu.memory_bytes / 1024 ** 3)} GB of memory`;
  const runs = countOf(offer.run_slots, 'run');
  const deployments = countOf(offer.deployment_slots, 'deployment');
  return {
    parts: [...gpus, cores, memory].join(', '),
    slots: `On its CPU: ${runs} and ${deployments} at a time`,
  };
}
