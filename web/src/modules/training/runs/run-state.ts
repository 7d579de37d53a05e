import type { Run } from '@bakehouse/contract/runs';
import { useSyncExternalStore } from 'react';
import { queryClient } from '../../../lib/api/query-client.ts';

const ENDS = new Set<Run['state']>(['completed', 'cancelled', 'failed']);

/** Key of `runQuery`. */
export const runKey = (runId: string) => ['run', 'one', runId];

export type Stage = Pick<Run, 'state' | 'phase' | 'stop_reason'>;

/** Returns true if the run has ended; it may still be resumed. */
export function hasEnded({ state }: Pick<Run, 'state'>): boolean {
  return ENDS.has(state);
}

/**
 * Returns the badge's state: 'running' during the first step, and 'stopped' if not cancelled by its owner.
 */
export function displayState({ state, phase, stop_reason }: Stage): Run['state'] | 'stopped' {
  if (state === 'starting' && phase === 'training') return 'running';
  return state === 'cancelled' && stop_reason !== null ? 'stopped' : state;
}

/** Returns the path of the list that contains the run. */
export function areaPath({ kind }: Pick<Run, 'kind'>) {
  return `/${kind === 'pictures' ? 'diffusion' : 'llm'}-training` as const;
}

/**
 * Returns the path of the page or, on a run's page, of the list that contains the run once it has loaded.
 * Reads the cache only, so that the first screen doesn't include the query.
 */
export function useRunArea(pathname: string): string {
  return useSyncExternalStore(
    (changed) => queryClient.getQueryCache().subscribe(changed),
    () => {
      const run = queryClient.getQueryData<Run>(runKey(pathname.slice('/runs/'.length)));
      return run ? areaPath(run) : pathname;
    },
  );
}
