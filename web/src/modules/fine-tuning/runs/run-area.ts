import type { Run } from '@bakehouse/contract/runs';
import { useSyncExternalStore } from 'react';
import { queryClient } from '../../../lib/api/query-client.ts';

/** Key of `runQuery`. */
export const runKey = (runId: string) => ['run', 'one', runId];

/** Returns the path of the list that contains the run. */
export function areaPath({ kind }: Pick<Run, 'kind'>) {
  return `/${kind === 'pictures' ? 'diffusion' : 'llm'}-training` as const;
}

/**
 * Returns `pathname`; on the page of a loaded run, the path of the list that contains the run. Reads only the
 * cache, so that the first screen doesn't include the query.
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
