import { type CpuMachine, listCpuMachines } from '../../../engine/machines/list-cpu-machines.ts';
import type { Context } from '../../../platform/context.ts';
import { expectedSlowdown } from '../slowdown.ts';

/** For how long a review holds that its user has seen. */
const SHOWN_MS = 30 * 60_000;
/** Less than this is what an idle machine does beside its work. */
const NOTICEABLE = 1.2;

type Asking = Pick<Context, 'db' | 'clock' | 'caller'>;

/** The processor that a run on a CPU would go to. */
export type RunCpu = {
  cores: number;
  memoryBytes: number;
  /** How many times longer than on an idle machine a run takes there by the present load. */
  slowdown: number;
};

export type LoadEstimate = {
  now: (ctx: Asking) => Promise<RunCpu>;
  /** The same as the caller was last told, so that what the review shows is what is held. */
  asShown: (ctx: Asking) => Promise<RunCpu>;
};

/** Estimates by what the machines offer and by their runs; while none has said anything by `own`, this one's facts. */
export function estimateLoad(own: () => Omit<CpuMachine, 'id'>): LoadEstimate {
  const shown = new Map<string, { cpu: RunCpu; until: number }>();

  async function now({ db, clock, caller }: Asking): Promise<RunCpu> {
    const { cores, memoryBytes, load, slots, atWork } = soonest(await listCpuMachines(db)) ?? own();
    const cpu = { cores, memoryBytes, slowdown: expectedSlowdown(load, { atWork, slots }) };
    const time = clock.now().getTime();
    for (const [userId, { until }] of shown) if (until < time) shown.delete(userId);
    shown.set(caller.userId, { cpu, until: time + SHOWN_MS });
    return cpu;
  }

  return {
    now,
    asShown: async (ctx) => {
      const last = shown.get(ctx.caller.userId);
      return last && last.until >= ctx.clock.now().getTime() ? last.cpu : now(ctx);
    },
  };
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
