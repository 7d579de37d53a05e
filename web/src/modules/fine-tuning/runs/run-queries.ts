import { getRun, listRuns, type Run, type RunFilter } from '@bakehouse/contract/runs';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { useFallbackInterval } from '../../../lib/live/event-stream.ts';
import { endpointPages } from '../../../lib/live/paged-query.ts';
import { runKey } from './run-area.ts';

const POLL_MS = 3_000;

/** Filters of the run list, and its order if not newest first. */
export type RunSearch = {
  kind?: Run['kind'] | undefined;
  search?: string | undefined;
  state?: RunFilter | undefined;
  sort?: 'title' | undefined;
};

/** Query for the user's runs, paginated. */
export const runsQuery = (wanted: RunSearch) =>
  endpointPages(
    ['run', 'list', wanted],
    listRuns,
    { query: wanted },
    { rows: 'runs', id: 'run_id', newestFirst: !(wanted.search || wanted.state || wanted.sort) },
  );

export const runListQuery = runsQuery({});

export function useRuns(wanted: RunSearch = {}) {
  return useInfiniteQuery({ ...runsQuery(wanted), refetchInterval: useFallbackInterval(POLL_MS) });
}

export const runQuery = (runId: string) => endpointQuery(runKey(runId), getRun, { params: { runId } });

export function useRun(runId: string, { enabled = true } = {}) {
  return useQuery({ ...runQuery(runId), enabled, refetchInterval: useFallbackInterval(POLL_MS) });
}
