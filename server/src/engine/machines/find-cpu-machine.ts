import type { Database, Transaction } from '../../platform/db/database.ts';
import type { CpuLoad } from '../model/offer.ts';
import { countCpuRunsAtWork } from '../queries.ts';
import { listMachines } from './queries.ts';

/** Where CPU work runs: on the machine, or in the cluster if the cluster accepts such work. */
export type CpuMachine = {
  id: string;
  cores: number;
  memoryBytes: number;
  load: CpuLoad;
  /** Maximum number of concurrent runs, and number of runs that work there now. */
  slots: number;
  atWork: number;
};

/**
 * Returns where CPU runs are placed. If neither the machine nor the cluster is present, uses a last known
 * offer. Returns null if there never was one.
 */
export async function findCpuMachine(db: Database | Transaction): Promise<CpuMachine | null> {
  const machines = (await listMachines(db)).filter(({ offer }) => (offer?.capacity['cpu:run'] ?? 0) > 0);
  const machine = machines.find(({ isPresent }) => isPresent) ?? machines[0];
  if (!machine?.offer) return null;
  const { cores, memory_bytes: memoryBytes } = machine.offer.cpu;
  return {
    ...{ id: machine.id, cores, memoryBytes },
    load: machine.offer.load ?? { busyThreads: 0, cores, runThreads: cores },
    slots: machine.offer.capacity['cpu:run'] ?? 0,
    atWork: await countCpuRunsAtWork(db, machine.id),
  };
}
