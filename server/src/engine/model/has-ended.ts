import type { Workload } from './workload.ts';

/** Whether it has ended for good. */
export function hasEnded(workload: Pick<Workload, 'state'>): boolean {
  return workload.state === 'completed' || workload.state === 'stopped' || workload.state === 'failed';
}
