import { type CpuMachine, findCpuMachine } from '../../../engine/machines/find-cpu-machine.ts';
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

/** Estimates by what the machine offers and by its runs; while it has said nothing by `own`, this computer's facts. */
export async function estimateLoad(db: Database, own: Omit<CpuMachine, 'id'>): Promise<RunCpu> {
  const { cores, memoryBytes, load, slots, atWork } = (await findCpuMachine(db)) ?? own;
  return { cores, memoryBytes, slowdown: expectedSlowdown(load, { atWork, slots }) };
}

/** What the estimate says of the load of a CPU. Pure. */
export function describeLoad(slowdown: number): string {
  if (slowdown < NOTICEABLE) {
    return 'Estimated for the current load: this machine is mostly idle. If it gets busier, the run takes longer and costs more.';
  }
  const times = slowdown < 3 ? slowdown.toFixed(1) : String(Math.round(slowdown));
  return `Estimated for the current load: this machine is busy, so the run takes about ${times} times as long as on an idle one. It costs less if the other work ends sooner.`;
}
