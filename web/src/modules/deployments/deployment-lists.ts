import { listDeployments } from '@bakehouse/contract/deployments/all';
import { listImageDeployments } from '@bakehouse/contract/deployments/images';
import { listVllm, vllmStats } from '@bakehouse/contract/deployments/text';
import type { CallOf } from '@bakehouse/contract/endpoint';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../lib/api/api-client.ts';
import { endpointQuery } from '../../lib/api/endpoint-query.ts';
import { useFallbackInterval } from '../../lib/live/event-stream.ts';
import { pagedQuery } from '../../lib/live/paged-query.ts';
import type { Deployment, Family } from './kinds.ts';
import type { DeploymentsSearch } from './list/deployments-search.ts';

/* Must not import `kinds.ts`: the dashboard's first screen needs these queries, but not that table. */

const POLL_MS = 5_000;
const operation = 'fetch deployments';

type Query = Omit<NonNullable<CallOf<typeof listVllm>['query']>, 'model_id'>;
type Page = { deployments: Deployment[]; next_cursor: string | null };
type List = (userId: string, query: Query, signal: AbortSignal) => Promise<Page>;

const lists: Record<Family, List> = {
  text: async (userId, query, signal) => {
    const { pods, next_cursor } = await call(listVllm, { params: { userId }, query }, { signal, operation });
    return { deployments: pods.map((pod) => ({ ...pod, kind: 'text' })), next_cursor };
  },
  image: (userId, query, signal) =>
    call(listImageDeployments, { params: { userId }, query }, { signal, operation }),
};

/**
 * Pages through the user's deployments of a family, newest first by default. Without a `status` it lists
 * active ones; for image models also those that ended recently without being terminated.
 */
export const deploymentListQuery = (
  family: Family,
  userId: string,
  { search, status, sort }: DeploymentsSearch = {},
) =>
  pagedQuery({
    queryKey: ['deployment', 'list', family, userId, { search, status, sort }],
    rows: 'deployments',
    id: 'pod_id',
    newestFirst: !(search || (status && status !== 'all') || sort),
    read: (cursor, signal) => {
      const filter = status === 'all' ? { include_terminated: 'true' as const } : { status };
      const query = { search, sort, cursor, ...filter };
      return lists[family](userId, query, signal);
    },
  });

/** Reads the user's deployments of one text model that were not terminated. */
export const deploymentsOfQuery = (userId: string, modelId: string | undefined) =>
  endpointQuery(
    ['deployment', 'list', 'text', userId, { modelId }],
    listVllm,
    { params: { userId }, query: { model_id: modelId } },
    { call: { operation } },
  );

/** Reads the totals over the user's text deployments. */
export const deploymentStatsQuery = (userId: string) =>
  endpointQuery(
    ['deployment', 'stats', 'text', userId],
    vllmStats,
    { params: { userId } },
    { call: { operation } },
  );

/** Reads the user's newest active deployments of every kind, as many as a card shows. */
export const newestDeploymentsQuery = (userId: string) =>
  endpointQuery(
    ['deployment', 'list', 'all', userId],
    listDeployments,
    { params: { userId }, query: { limit: 5 } },
    { call: { operation } },
  );

export function useNewestDeployments(userId: string) {
  return useQuery({ ...newestDeploymentsQuery(userId), refetchInterval: useFallbackInterval(POLL_MS) });
}
