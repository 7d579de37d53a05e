import type { AssetSummary, DatasetType } from '@bakehouse/contract/assets';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { assetListQuery } from '../asset-queries.ts';

/** Maximum number of options a form loads; beyond that the server is searched. */
const CHOICES_MAX = 200;

/** Datasets or models that the user may use, by name, for a choice in a form. */
export const choiceQuery = (userId: string, types: DatasetType, search = '') =>
  assetListQuery(userId, { types, search, sort: 'title', whose: 'all', include: included[types] });

const included = {
  RAW: { include_starter: 'true' },
  MODEL: { include_starter: 'true', include_pipelines: 'true' },
} as const;

/** Loads the first options by name. */
export function useAllAssets(userId: string, types: DatasetType) {
  const list = useInfiniteQuery(choiceQuery(userId, types));
  const assets: AssetSummary[] = list.data?.pages.flatMap((page) => page.datasets) ?? [];
  // No automatic request after a failed page: it would retry endlessly.
  const more =
    list.hasNextPage && !list.isFetching && !list.isFetchNextPageError && assets.length < CHOICES_MAX;
  const { fetchNextPage } = list;
  useEffect(() => {
    if (more) void fetchNextPage({ cancelRefetch: false });
  }, [more, fetchNextPage]);
  return {
    assets,
    loading: list.isPending,
    /** True if all options are loaded. */
    complete: list.isSuccess && !list.hasNextPage,
    /** Set only if no page could be loaded. */
    error: list.data ? null : list.error,
    retry: () => void list.refetch(),
  };
}
