import { getRun, listRuns, type RunFilter } from '@bakehouse/contract/training';
import { queryOptions, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { call } from '../../lib/api/api-client.ts';
import { useFallbackInterval } from '../../lib/live/event-stream.ts';
import { pagedQuery } from '../../lib/live/paged-query.ts';
import { loadable } from '../../lib/loadable.tsx';

export { displayState, hasEnded } from './runs/run-state.ts';
export { UnfinishedBadge, useUnfinishedRuns } from './runs/unfinished/unfinished-badge.tsx';
export { unfinishedText } from './runs/unfinished/unfinished-model.ts';

/** A run that is under way, with its curve; it is loaded where there is one. */
export const LiveRun = loadable(async () => (await import('./runs/curves/live-run.tsx')).LiveRun);

/** What the base and the tuned model say to rows that a run has held out. */
export const HeldOutAnswers = loadable(
  async () => (await import('./held-out/held-out-answers.tsx')).HeldOutAnswers,
);

const POLL_MS = 3_000;

/** What the list of runs is narrowed to, and its order where that is not the newest first. */
export type RunSearch = {
  search?: string | undefined;
  state?: RunFilter | undefined;
  sort?: 'title' | undefined;
};

/** The caller's runs page by page. */
export const runsQuery = (wanted: RunSearch) =>
  pagedQuery({
    queryKey: ['run', 'list', wanted],
    rows: 'runs',
    id: 'run_id',
    newestFirst: !(wanted.search || wanted.state || wanted.sort),
    read: (cursor, signal) =>
      call(listRuns, { query: { ...wanted, cursor } }, { signal, operation: 'fetch runs' }),
  });

export const runListQuery = runsQuery({});

export function useRuns(wanted: RunSearch = {}) {
  return useInfiniteQuery({ ...runsQuery(wanted), refetchInterval: useFallbackInterval(POLL_MS) });
}

export const runQuery = (runId: string) =>
  queryOptions({
    queryKey: ['run', 'one', runId],
    queryFn: ({ signal }) => call(getRun, { params: { runId } }, { signal, operation: 'fetch the run' }),
  });

export function useRun(runId: string, { enabled = true } = {}) {
  return useQuery({ ...runQuery(runId), enabled, refetchInterval: useFallbackInterval(POLL_MS) });
}
