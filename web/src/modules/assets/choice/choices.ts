import type { AssetSummary, DatasetType } from '@bakehouse/contract/assets';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { assetListQuery } from '../asset-queries.ts';

/** As many as a choice in a form reads by itself; of more, the server finds what is typed. */
const CHOICES_MAX = 200;

/** The datasets or models that the user may use by name, one's own and others', for a choice in a form. */
export const choiceQuery = (userId: string, types: DatasetType, search = '') =>
  assetListQuery(userId, { types, search, sort: 'title', whose: 'all', include: included[types] });

const included = {
  RAW: { include_starter: 'true' },
  MODEL: { include_starter: 'true', include_pipelines: 'true' },
} as const;

/** The first of them by name. */
export function useAllAssets(userId: string, types: DatasetType) {
  const list = useInfiniteQuery(choiceQuery(userId, types));
  const assets: AssetSummary[] = list.data?.pages.flatMap((page) => page.datasets) ?? [];
  // After a failed page nothing is asked for by itself: it would go on without end.
  const more =
    list.hasNextPage && !list.isFetching && !list.isFetchNextPageError && assets.length < CHOICES_MAX;
  const { fetchNextPage } = list;
  useEffect(() => {
    if (more) void fetchNextPage({ cancelRefetch: false });
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
