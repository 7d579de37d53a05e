import {
  type Deployment,
  listVllm,
  terminatePod,
  vllmLogs,
  vllmMetrics,
  vllmStats,
  vllmStatus,
} from '@bakehouse/contract/deployments';
import { infiniteQueryOptions, useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { call } from '../../lib/api-client.ts';
import { useFallbackInterval } from '../../lib/event-stream.ts';
import { queryClient } from '../../lib/query-client.ts';
import { useUser } from '../accounts/api.ts';

export { DeployButton } from './deploy-button.tsx';

const POLL_MS = 5_000;
/** Costs and metrics move with time, not with events. */
const TICK_MS = 15_000;

/** The user's text deployments page by page, newest first; ended ones too when asked for. */
export const deploymentListQuery = (userId: string, includeTerminated = false) =>
  infiniteQueryOptions({
    queryKey: ['deployment', 'list', userId, { includeTerminated }],
    queryFn: ({ pageParam, signal }) =>
      call(
        listVllm,
        {
          params: { userId },
          query: {
            include_terminated: includeTerminated ? 'true' : 'false',
            cursor: pageParam ?? undefined,
          },
        },
        { signal, operation: 'fetch deployments' },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });

export function useDeployments(userId: string, includeTerminated: boolean) {
  return useInfiniteQuery({
    ...deploymentListQuery(userId, includeTerminated),
    refetchInterval: useFallbackInterval(POLL_MS) || TICK_MS,
  });
}

const live = new Set<Deployment['status']>(['queued', 'deploying', 'running', 'sleeping', 'degraded']);

/** The user's deployments of one model that have not been terminated. */
export function useDeploymentsOf(modelId: string | undefined) {
  const user = useUser();
  return useQuery({
    queryKey: ['deployment', 'list', user.id, { modelId }],
    queryFn: ({ signal }) =>
      call(
        listVllm,
        { params: { userId: user.id }, query: { model_id: modelId } },
        { signal, operation: 'fetch deployments' },
      ),
    enabled: modelId !== undefined,
    refetchInterval: useFallbackInterval(POLL_MS) || TICK_MS,
  });
}

/** The user's newest deployment of a model that answers or is on its way; undefined where there is none. */
export function useLiveDeployment(modelId: string): Deployment | undefined {
  return useDeploymentsOf(modelId).data?.pods.find(({ status }) => live.has(status));
}

export function useDeploymentStats(userId: string) {
  return useQuery({
    queryKey: ['deployment', 'stats', userId],
    queryFn: ({ signal }) =>
      call(vllmStats, { params: { userId } }, { signal, operation: 'fetch deployments' }),
    refetchInterval: TICK_MS,
  });
}

export function useDeployment(podId: string) {
  return useQuery({
    queryKey: ['deployment', 'one', podId],
    queryFn: ({ signal }) =>
      call(vllmStatus, { params: { podId } }, { signal, operation: 'fetch deployments' }),
    refetchInterval: useFallbackInterval(POLL_MS) || TICK_MS,
  });
}

export function useDeploymentLogs(podId: string) {
  return useQuery({
    queryKey: ['deployment', 'logs', podId],
    queryFn: ({ signal }) => call(vllmLogs, { params: { podId } }, { signal, operation: 'fetch the log' }),
    refetchInterval: TICK_MS,
  });
}

export function useDeploymentMetrics(podId: string) {
  return useQuery({
    queryKey: ['deployment', 'metrics', podId],
    queryFn: ({ signal }) =>
      call(
        vllmMetrics,
        { params: { podId }, query: { minutes: 60 } },
        { signal, operation: 'fetch the metrics' },
      ),
    refetchInterval: TICK_MS,
  });
}

export function useTerminatePod() {
  const user = useUser();
  return useMutation({
    mutationFn: (podId: string) =>
      call(
        terminatePod,
        { params: { podId }, query: { user_id: user.id } },
        { operation: 'terminate deployment', timeoutMs: 30_000 },
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['deployment'] }),
    meta: { prefix: 'Termination failed: ' },
  });
}
