import { type CpuMachine, listCpuMachines } from '../../../engine/machines/list-cpu-machines.ts';
import type { Database } from '../../../platform/db/database.ts';
import { expectedSlowdown } from '../slowdown.ts';

/** Less than this is what an idle machine does beside its work. */
const NOTICEABLE = 1.2;

/** The processor that a run on a CPU would go to. */
export type RunCpu = {
  cores: number;
  memoryBytes: number;
  /** How many times longer than on an idle machine a run takes there by the present load. */
  slowdown: number;
};

/** Estimates by what the machines offer and by their runs; while none has said anything by `own`, this one's facts. */
export async function estimateLoad(db: Database, own: Omit<CpuMachine, 'id'>): Promise<RunCpu> {
  const { cores, memoryBytes, load, slots, atWork } = soonest(await listCpuMachines(db)) ?? own;
  return { cores, memoryBytes, slowdown: expectedSlowdown(load, { atWork, slots }) };
}

/** The first machine with a free slot, as the queue takes it; else the first. Pure. */
function soonest(machines: CpuMachine[]): CpuMachine | undefined {
  return machines.find(({ slots, atWork }) => atWork < slots) ?? machines[0];
}

/** What the estimate says of the load of a CPU. Pure. */
export function describeLoad(slowdown: number): string {
  if (slowdown < NOTICEABLE) {
    return 'Estimated for the current load: this machine is mostly idle. If it gets busier, the run takes longer and costs more.';
  }
  const times = slowdown < 3 ? slowdown.toFixed(1) : String(Math.round(slowdown));
  return `Estimated for the current load: this machine is busy, so the run takes about ${times} times as long as on an idle one. It costs less if the other work ends sooner.`;
}
