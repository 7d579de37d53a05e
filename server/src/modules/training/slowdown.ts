import { SLOWDOWN_MAX } from '@bakehouse/contract/training';
import type { CpuLoad } from '../../engine/model/offer.ts';

/** The system's mean follows what has changed within this time. */
const MEAN_S = 60;

/**
 * How many times longer a run takes than alone, where it begins now. Runs that are at work count as
 * far as a slot is left beside them: for the others it waits. Pure.
 */
export function expectedSlowdown(load: CpuLoad, runs: { atWork: number; slots: number }): number {
  const others = Math.max(0, load.busyThreads - runs.atWork * load.runThreads);
  const beside = Math.max(0, Math.min(runs.atWork, runs.slots - 1)) * load.runThreads;
  return slowdown(load, others + beside);
}

/** The same for a run that ends now and has worked for so many seconds: its own threads are in the load. Pure. */
export function measuredSlowdown(load: CpuLoad, seconds: number): number {
  const own = load.runThreads * (1 - Math.exp(-seconds / MEAN_S));
  return slowdown(load, Math.max(0, load.busyThreads - own));
}

/** Processors are shared alike among all threads that want one. */
function slowdown({ cores, runThreads }: CpuLoad, otherThreads: number): number {
  return Math.min(SLOWDOWN_MAX, Math.max(1, (runThreads + otherThreads) / cores));
}
