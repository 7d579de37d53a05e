import type { Workload } from './workload.ts';

/** Returns true if the workload has ended permanently. */
export function hasEnded(workload: Pick<Workload, 'state'>): boolean {
  return workload.state === 'completed' || workload.state === 'stopped' || workload.state === 'failed';
}
