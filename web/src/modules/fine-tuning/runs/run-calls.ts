import type { ResponseOf } from '@bakehouse/contract/endpoint';
import {
  cancelRun,
  getRunLogs,
  getRunMetrics,
  type Run,
  resumeRun,
  runStats,
} from '@bakehouse/contract/runs';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '../../../lib/api/api-client.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { useIdempotencyKeys } from '../../../lib/api/idempotency-key.ts';
import { queryClient } from '../../../lib/api/query-client.ts';
import { useFallbackInterval } from '../../../lib/live/event-stream.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { mergePoints, refetchPointsAfter } from './curves/curves.ts';
import { runQuery } from './run-queries.ts';

const POLL_MS = 3_000;

/** The number of runs by outcome, and their total cost. */
export const runStatsQuery = (kind: Run['kind']) =>
  endpointQuery(['run', 'stats', kind], runStats, { query: { kind } });

export function useRunStats(kind: Run['kind']) {
  return useQuery({
    ...runStatsQuery(kind),
    refetchInterval: useFallbackInterval(POLL_MS),
  });
}

type Points = ResponseOf<typeof getRunMetrics>['points'];
type Curves = { points: readonly Points[number][] };

/** Query for a run's metrics. Refetches only fetch new points. */
export const runMetricsQuery = (runId: string) => {
  const queryKey = ['run', 'metrics', runId];
  return queryOptions({
    queryKey,
    queryFn: async ({ signal }): Promise<Curves> => {
      const known = queryClient.getQueryData<Curves>(queryKey)?.points ?? [];
      const { points } = await call(
        getRunMetrics,
        { params: { runId }, query: { after: refetchPointsAfter(known) } },
        { signal },
      );
      return { points: mergePoints(known, points) };
    },
  });
};

export function useRunMetrics(runId: string) {
  return useQuery({ ...runMetricsQuery(runId), refetchInterval: useFallbackInterval(POLL_MS) });
}

export const runLogsQuery = (runId: string) =>
  endpointQuery(['run', 'logs', runId], getRunLogs, { params: { runId }, query: {} });

export function useRunLogs(runId: string) {
  return useQuery({
    ...runLogsQuery(runId),
    refetchInterval: useFallbackInterval(POLL_MS),
  });
}

export function useCancelRun() {
  return useMutation({
    mutationFn: (runId: string) => call(cancelRun, { params: { runId } }),
    onSuccess: (run: Run) => {
      queryClient.setQueryData(runQuery(run.run_id).queryKey, run);
      refetchQueries(['run']);
    },
  });
}

/** Resumes a cancelled or failed run from its last checkpoint, with the ceiling that the user typed, if any. */
export function useResumeRun(runId: string) {
  const keys = useIdempotencyKeys('resume');
  return useMutation({
    mutationFn: (ceiling: string) =>
      call(
        resumeRun,
        { params: { runId }, body: ceiling ? { ceiling } : {} },
        { idempotencyKey: keys.keyFor({ runId, ceiling }) },
      ),
    onSuccess: (run: Run, ceiling) => {
      keys.renew({ runId, ceiling });
      queryClient.setQueryData(runQuery(runId).queryKey, run);
      refetchQueries(['run']);
    },
    // The dialog shows the error.
    meta: { product: 'Fine-tune', inPlace: true },
  });
}
