import type { Workload } from './workload.ts';

/** Returns true if it waits in its driver's own queue: an attempt was handed over and has not begun. */
export function isWithDriver({ state, devices }: Pick<Workload, 'state' | 'devices'>): boolean {
  return state === 'queued' && devices !== null;
}
