import {
  deleteHubToken,
  getHubRepository,
  getHubToken,
  type RepoType,
  saveHubToken,
  searchHub,
} from '@bakehouse/contract/hub/public';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { call } from '../../../lib/api/api-client.ts';
import { ApiError } from '../../../lib/api/api-error.ts';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { queryClient, shouldRetry } from '../../../lib/api/query-client.ts';
import { pagedQuery } from '../../../lib/live/paged-query.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { useUser } from '../../accounts/session.ts';

const RESULTS = 30;
const QUICK_RESULTS = 5;
/** Hub data changes slowly. */
const STALE_MS = 60_000;
/** It may have to list many files. */
const DETAILS_TIMEOUT_MS = 60_000;

/** Reports an unreachable hub without retries, because the user has Try again. */
const retry = (failures: number, error: unknown) =>
  !(error instanceof ApiError && error.code === 'unavailable') && shouldRetry(failures, error);

/** Searches the public hub, page by page. */
export function useHubSearch(type: RepoType, query: string) {
  return useInfiniteQuery({
    ...pagedQuery({
      queryKey: ['hub', 'search', type, query],
      rows: 'results',
      id: 'repo_id',
      newestFirst: false,
      staleTime: STALE_MS,
      read: async (cursor, signal) => {
        const page = Number(cursor ?? 1);
        const asked = { query, search_type: type, page, top_k: RESULTS };
        const { results, total_results: total } = await call(searchHub, { query: asked }, { signal });
        return { results, next_cursor: total > page * RESULTS ? String(page + 1) : null };
      },
    }),
    retry,
    placeholderData: keepPreviousData,
  });
}

/** The first matching models on the hub. */
export function useQuickSearch(query: string) {
  return useQuery({
    ...endpointQuery(
      ['hub', 'quick', query],
      searchHub,
      { query: { query, search_type: 'model', page: 1, top_k: QUICK_RESULTS } },
      { staleTime: STALE_MS, enabled: query !== '' },
    ),
    retry,
    placeholderData: keepPreviousData,
  });
}

export const repositoryQuery = (userId: string, type: RepoType, id: string) => ({
  ...endpointQuery(
    ['hub', 'repository', userId, type, id],
    getHubRepository,
    { query: { repo_id: id, repo_type: type, user_id: userId, include_file_info: 'true' } },
    { staleTime: STALE_MS, call: { timeoutMs: DETAILS_TIMEOUT_MS } },
  ),
  retry,
});

const tokenQuery = (userId: string) =>
  endpointQuery(['hub', 'token', userId], getHubToken, { params: { userId } });

export function useHubToken() {
  return useQuery(tokenQuery(useUser().id));
}

/** Refreshes repositories, because a token changes access. */
function useTokenChange<Input>(
  change: (userId: string, input: Input) => Promise<Awaited<ReturnType<typeof readToken>>>,
) {
  const userId = useUser().id;
  return useMutation({
    mutationFn: (input: Input) => change(userId, input),
    onSuccess: (kept) => {
      queryClient.setQueryData(tokenQuery(userId).queryKey, kept);
      refetchQueries(['hub', 'repository']);
    },
    meta: { inPlace: true },
  });
}

const readToken = (userId: string) => call(getHubToken, { params: { userId } });

export const useSaveToken = () =>
  useTokenChange((userId, token: string) => call(saveHubToken, { params: { userId }, body: { token } }));

export const useDeleteToken = () =>
  useTokenChange((userId, _: void) => call(deleteHubToken, { params: { userId } }));
