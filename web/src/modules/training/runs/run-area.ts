import type { Run } from '@bakehouse/contract/runs';
import { useSyncExternalStore } from 'react';
import { queryClient } from '../../../lib/api/query-client.ts';

/** Of `runQuery`. */
export const runKey = (runId: string) => ['run', 'one', runId];

/** The path of the list that a run is in. */
export function areaPath({ kind }: Pick<Run, 'kind'>) {
  return `/${kind === 'pictures' ? 'diffusion' : 'llm'}-training` as const;
}

/**
 * The path of a page or, where it is a run's, of the list that the run is in, once the page has read it. How it is read is
 * none of the first screen's business.
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
