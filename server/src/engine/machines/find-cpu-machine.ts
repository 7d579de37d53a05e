import type { Database, Transaction } from '../../platform/db/database.ts';
import type { CpuLoad } from '../model/offer.ts';
import { countCpuRunsAtWork } from '../queries.ts';
import { listMachines } from './queries.ts';

/** What runs work on processors: the machine, or the cluster where that takes such work. */
export type CpuMachine = {
  id: string;
  cores: number;
  memoryBytes: number;
  load: CpuLoad;
  /** Runs that it takes side by side, and those that work there. */
  slots: number;
  atWork: number;
};

/** Where runs on a CPU go to; while nobody is there to take them, where they went. Null before anybody has been. */
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
