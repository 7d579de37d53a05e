import type { Workload } from './model/workload.ts';

/**
 * Returns the seconds of work that a resumed workload continues with: a failed one goes back to its last
 * checkpoint.
 */
export function secondsSaved({
  state,
  activeSeconds,
  savedSeconds,
}: Pick<Workload, 'state' | 'activeSeconds' | 'savedSeconds'>): number {
  return state === 'failed' ? savedSeconds : activeSeconds;
}
