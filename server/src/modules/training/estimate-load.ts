import { type CpuLoad, slowdownAhead } from '../../engine/machine/cpu-load.ts';
import { countCpuRunsAtWork } from '../../engine/queries.ts';
import type { Capacity } from '../../engine/queue.ts';
import type { Context } from '../../platform/context.ts';

/** For how long a review holds that its user has seen. */
const SHOWN_MS = 30 * 60_000;
/** Less than this is what an idle machine does beside its work. */
const NOTICEABLE = 1.2;

type Asking = Pick<Context, 'db' | 'clock' | 'caller'>;

export type LoadEstimate = {
  /** How many times longer than on an idle machine a run on this CPU takes by the present load. */
  now: (ctx: Asking) => Promise<number>;
  /** The same as the caller was last told, so that what the review shows is what is held. */
  asShown: (ctx: Asking) => Promise<number>;
};

/** Estimates by the load of this machine, which is `readLoad`, and by its runs. */
export function estimateLoad(readLoad: () => CpuLoad, capacity: () => Promise<Capacity>): LoadEstimate {
  const shown = new Map<string, { slowdown: number; until: number }>();

  async function now({ db, clock, caller }: Asking): Promise<number> {
    const atWork = await countCpuRunsAtWork(db);
    const slots = (await capacity())['cpu:run'] ?? 1;
    const slowdown = slowdownAhead(readLoad(), { atWork, slots });
    const time = clock.now().getTime();
    for (const [userId, { until }] of shown) if (until < time) shown.delete(userId);
    shown.set(caller.userId, { slowdown, until: time + SHOWN_MS });
    return slowdown;
  }

  return {
    now,
    asShown: async (ctx) => {
      const last = shown.get(ctx.caller.userId);
      return last && last.until >= ctx.clock.now().getTime() ? last.slowdown : now(ctx);
    },
  };
}

/** What the estimate says of the load of a CPU. Pure. */
export function describeLoad(slowdown: number): string {
  if (slowdown < NOTICEABLE) {
    return 'Estimated for the current load: this machine is mostly idle. If it gets busier, the run takes longer and costs more.';
  }
  const times = slowdown < 3 ? slowdown.toFixed(1) : String(Math.round(slowdown));
  return `Estimated for the current load: this machine is busy, so the run takes about ${times} times as long as on an idle one. It costs less if the other work ends sooner.`;
}
