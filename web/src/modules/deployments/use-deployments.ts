import { getImageDeployment } from '@bakehouse/contract/deployments/images';
import { vllmLogs, vllmMetrics, vllmStatus } from '@bakehouse/contract/deployments/text';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { call } from '../../lib/api/api-client.ts';
import { ApiError } from '../../lib/api/api-error.ts';
import { useFallbackInterval } from '../../lib/live/event-stream.ts';
import { useOnlineInterval } from '../../lib/live/online.ts';
import { isMissing } from '../../ui/missing.tsx';
import { useUser } from '../accounts/session.ts';
import { deploymentListQuery, deploymentStatsQuery, deploymentsOfQuery } from './deployment-lists.ts';
import { type Deployment, type Family, families, isPending, isUsable, pollMsOf } from './kinds.ts';
import type { DeploymentsSearch } from './list/deployments-search.ts';

const POLL_MS = 5_000;
/** Costs, logs and metrics change without events, so they are polled even while the event stream is up. */
const TICK_MS = 15_000;

const operation = 'fetch deployments';

/** One minute of the charts. */
export type MetricsPoint = ResponseOf<typeof vllmMetrics>['points'][number];

/** Returns the poll interval for deployments while the event stream is down. */
export function usePollMs(family: Family): (deployments: readonly Deployment[]) => number | false {
  const isDown = useFallbackInterval(POLL_MS) !== false;
  return (deployments) => isDown && (families[family].pollMs ?? pollMsOf(deployments, Date.now()));
}

/** The user's deployments of a family, live, with their current cost. */
export function useDeployments(family: Family, search: DeploymentsSearch = {}) {
  const pollMs = usePollMs(family);
  const tick = useOnlineInterval(TICK_MS);
  return useInfiniteQuery({
    ...deploymentListQuery(family, useUser().id, search),
    refetchInterval: ({ state: { data } }) => {
      const all = data?.pages.flatMap(({ deployments }) => deployments) ?? [];
      return pollMs(all) || (all.some(isUsable) && tick);
    },
  });
}

/** The user's deployments of one text model that were not terminated. */
export function useDeploymentsOf(modelId: string | undefined) {
  const { id: userId } = useUser();
  return useQuery({
    ...deploymentsOfQuery(userId, modelId),
    enabled: modelId !== undefined,
    refetchInterval: useFallbackInterval(POLL_MS),
  });
}

/** Returns the user's newest usable or pending deployment of a text model, or undefined. */
export function useLiveDeployment(modelId: string | undefined) {
  return useDeploymentsOf(modelId).data?.pods.find((pod) => isUsable(pod) || isPending(pod));
}

/** Totals over the user's text deployments. */
export function useDeploymentStats(userId: string) {
  return useQuery({
    ...deploymentStatsQuery(userId),
    refetchInterval: useOnlineInterval(TICK_MS),
  });
}

const readers: Record<Family, (podId: string, signal: AbortSignal) => Promise<Deployment>> = {
  text: async (podId, signal) => ({
    ...(await call(vllmStatus, { params: { podId } }, { signal, operation })),
    kind: 'text',
  }),
  image: (podId, signal) => call(getImageDeployment, { params: { podId } }, { signal, operation }),
};

/**
 * Reads one deployment. Links from notifications do not know the family, so a 404 from the text endpoint is
 * followed by a request to the image endpoint.
 */
export function useDeployment(family: Family, podId: string) {
  const isDown = useFallbackInterval(POLL_MS) !== false;
  const tick = useOnlineInterval(TICK_MS);
  return useQuery({
    queryKey: ['deployment', 'one', podId],
    queryFn: ({ signal }) =>
      requestDeployment(podId, async () => {
        try {
          return await readers[family](podId, signal);
        } catch (error) {
          if (family === 'image' || !isMissing(error)) throw error;
          return readers.image(podId, signal);
        }
      }),
    refetchInterval: ({ state: { data } }) => {
      if (isDown) return data && data.kind !== 'text' ? pollMsOf([data], Date.now()) || tick : POLL_MS;
      return tick;
    },
  });
}

export function useDeploymentLogs(podId: string) {
  return useQuery({
    queryKey: ['deployment', 'logs', podId],
    queryFn: ({ signal }) =>
      requestDeployment(podId, () =>
        call(vllmLogs, { params: { podId } }, { signal, operation: 'fetch the log' }),
      ),
    refetchInterval: useOnlineInterval(TICK_MS),
  });
}

/** The last hour, one point per minute. */
export function useDeploymentMetrics(podId: string) {
  return useQuery({
    queryKey: ['deployment', 'metrics', podId],
    queryFn: ({ signal }) =>
      requestDeployment(podId, () =>
        call(
          vllmMetrics,
          { params: { podId }, query: { minutes: 60 } },
          { signal, operation: 'fetch the metrics' },
        ),
      ),
    refetchInterval: useOnlineInterval(TICK_MS),
  });
}

/** Runs the request, but fails with 404 without sending one if the id is empty or 'undefined'. */
async function requestDeployment<Answer>(podId: string, ask: () => Promise<Answer>): Promise<Answer> {
  if (podId === '' || podId === 'undefined')
    throw new ApiError('No deployment has this id', { status: 404, code: 'not_found' });
  return ask();
}
