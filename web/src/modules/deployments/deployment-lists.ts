import { listDeployments } from '@bakehouse/contract/deployments/all';
import { listImageDeployments } from '@bakehouse/contract/deployments/images';
import { listVllm } from '@bakehouse/contract/deployments/text';
import type { CallOf } from '@bakehouse/contract/endpoint';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { call } from '../../lib/api/api-client.ts';
import { endpointQuery } from '../../lib/api/endpoint-query.ts';
import { readAllPages } from '../../lib/api/read-all-pages.ts';
import { useFallbackInterval } from '../../lib/live/event-stream.ts';
import { pagedQuery } from '../../lib/live/paged-query.ts';
import type { Deployment, Family } from './kinds.ts';
import type { DeploymentsSearch } from './list/deployments-search.ts';

/* The dashboard reads these on its first screen: the table of kinds comes later. */

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
 * The user's deployments of a family page by page, newest first unless sorted. Without `ended` those that have not ended; of
 * image models also those that have lately, though nobody terminated them.
 */
export const deploymentListQuery = (
  family: Family,
  userId: string,
  { search, status, sort, ended = false }: DeploymentsSearch = {},
) =>
  pagedQuery({
    queryKey: ['deployment', 'list', family, userId, { search, status, sort, ended }],
    rows: 'deployments',
    id: 'pod_id',
    newestFirst: !(search || status || sort),
    read: (cursor, signal) => {
      const query = { search, status, sort, include_terminated: ended ? 'true' : 'false', cursor } as const;
      return lists[family](userId, query, signal);
    },
  });

/** Those that have not ended, or have lately: all of them, however many pages they take. */
export const deploymentWorkQuery = (family: Family, userId: string) =>
  queryOptions({
    queryKey: ['deployment', 'list', family, userId, 'recent'],
    queryFn: async ({ signal }) => {
      const pages = await readAllPages((cursor) =>
        lists[family](userId, { recent: 'true', limit: 100, cursor }, signal),
      );
      return pages.flatMap(({ deployments }) => deployments);
    },
  });

/** The user's newest deployments of every kind that have not ended, as many as a card shows. */
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
