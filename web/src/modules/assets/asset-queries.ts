import { type AssetSummary, type DatasetType, getAsset, listAssets } from '@bakehouse/contract/assets';
import { infiniteQueryOptions, queryOptions, useInfiniteQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { call } from '../../lib/api/api-client.ts';
import { ApiError } from '../../lib/api/api-error.ts';
import { storedRead } from '../../lib/api/stored-read.ts';

const PAGE_LENGTH = 50;
const NOBODY = 'Missing required parameters: userId or apiKey';

type AssetFilter = {
  types: DatasetType;
  search?: string | undefined;
  tag?: string | undefined;
  sort?: 'updated' | 'title' | 'size';
  includeStarter?: boolean;
};

/** The user's datasets or models, page by page, newest first unless sorted otherwise. */
export const assetListQuery = (
  userId: string,
  { types, search = '', tag, sort = 'updated', includeStarter = false }: AssetFilter,
) =>
  infiniteQueryOptions({
    queryKey: ['asset', 'list', userId, { types, search, tag, sort, includeStarter }],
    queryFn: async ({ pageParam, signal }) => {
      if (!userId) throw new ApiError(NOBODY, { status: 0, code: 'no_key' });
      return call(
        listAssets,
        {
          query: {
            types,
            owner: userId,
            search,
            tag,
            sort,
            include_starter: includeStarter ? 'true' : 'false',
            limit: PAGE_LENGTH,
            cursor: pageParam ?? undefined,
          },
        },
        {
          signal,
          ...storedRead(),
          noKey: NOBODY,
          operation: types === 'RAW' ? 'fetch datasets' : 'fetch models',
        },
      );
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });

/** As many as a choice in a form reads by itself; of more, the server finds what is typed. */
const CHOICES_MAX = 200;

/** The user's first datasets or models by name, with the starter models, for a choice in a form. */
export function useAllAssets(userId: string, types: DatasetType) {
  const list = useInfiniteQuery(
    assetListQuery(userId, { types, sort: 'title', includeStarter: types === 'MODEL' }),
  );
  const assets: AssetSummary[] = list.data?.pages.flatMap((page) => page.datasets) ?? [];
  // After a failed page nothing is asked for by itself: it would go on without end.
  const more =
    list.hasNextPage && !list.isFetching && !list.isFetchNextPageError && assets.length < CHOICES_MAX;
  const { fetchNextPage } = list;
  useEffect(() => {
    if (more) void fetchNextPage();
  }, [more, fetchNextPage]);
  return {
    assets,
    loading: list.isPending,
    /** All of them are here. */
    complete: list.isSuccess && !list.hasNextPage,
    /** Nothing could be read at all. */
    error: list.data ? null : list.error,
    retry: () => void list.refetch(),
  };
}

export const assetQuery = (id: string) =>
  queryOptions({
    queryKey: ['asset', 'one', id],
    queryFn: ({ signal }) =>
      call(getAsset, { params: { id } }, { signal, ...storedRead(), operation: 'fetch the asset' }),
  });
