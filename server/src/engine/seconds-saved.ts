import type { Workload } from './model/workload.ts';

/** With how many seconds of work an ended workload goes on: what has failed is back at its last checkpoint. Pure. */
export function secondsSaved({
  state,
  activeSeconds,
  savedSeconds,
}: Pick<Workload, 'state' | 'activeSeconds' | 'savedSeconds'>): number {
  return state === 'failed' ? savedSeconds : activeSeconds;
}
