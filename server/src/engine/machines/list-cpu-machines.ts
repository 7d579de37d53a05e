import type { Database, Transaction } from '../../platform/db/database.ts';
import type { CpuLoad } from '../model/offer.ts';
import { countCpuRunsAtWork } from '../queries.ts';
import { listMachines } from './queries.ts';

/** A machine that runs work on its processor. */
export type CpuMachine = {
  id: string;
  cores: number;
  memoryBytes: number;
  load: CpuLoad;
  /** Runs that it takes side by side, and those that work there. */
  slots: number;
  atWork: number;
};

/** The machines that runs on a CPU can go to, in the order of the queue; while none is there, those that were. */
export async function listCpuMachines(db: Database | Transaction): Promise<CpuMachine[]> {
  const machines = await listMachines(db);
  const present = machines.filter(({ isPresent }) => isPresent);
  const atWork = await countCpuRunsAtWork(db);
  return (present.length > 0 ? present : machines).flatMap(({ id, offer }) => {
    const slots = offer?.capacity['cpu:run'] ?? 0;
    if (!offer || slots === 0) return [];
    const { cores, memory_bytes: memoryBytes } = offer.cpu;
    const load = offer.load ?? { busyThreads: 0, cores, runThreads: cores };
    return [{ id, cores, memoryBytes, load, slots, atWork: atWork.get(id) ?? 0 }];
  });
}
