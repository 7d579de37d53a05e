import type { Workload } from './workload.ts';

/** Whether it waits in its driver's own queue: an attempt was handed over, and has not begun. Pure. */
export function isWithDriver({ state, devices }: Pick<Workload, 'state' | 'devices'>): boolean {
  return state === 'queued' && devices !== null;
}
