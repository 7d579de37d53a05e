import {
  type Asset,
  type AssetSummary,
  assetInfo,
  createAsset,
  type DatasetType,
  deleteAsset,
  deleteFile,
  getAsset,
  getModelReadiness,
  listAssets,
  previewFile,
  updateAsset,
} from '@bakehouse/contract/assets';
import { infiniteQueryOptions, queryOptions, useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useEffect } from 'react';
import { call } from '../../lib/api-client.ts';
import { queryClient } from '../../lib/query-client.ts';

export { isDataFile } from './data-file.ts';
export { UploadList } from './upload-list.tsx';
export { type Upload, uploadFiles, useUploads } from './uploads.ts';

const PAGE_LENGTH = 50;
export const PREVIEW_ROWS = 100;

export type AssetFilter = {
  types: DatasetType;
  search?: string;
  sort?: 'updated' | 'title' | 'size';
  includeStarter?: boolean;
};

/** The user's datasets or models, page by page, newest first unless sorted otherwise. */
export const assetListQuery = (
  userId: string,
  { types, search = '', sort = 'updated', includeStarter = false }: AssetFilter,
) =>
  infiniteQueryOptions({
    queryKey: ['asset', 'list', userId, { types, search, sort, includeStarter }],
    queryFn: ({ pageParam, signal }) =>
      call(
        listAssets,
        {
          query: {
            types,
            owner: userId,
            search,
            sort,
            include_starter: includeStarter ? 'true' : 'false',
            limit: PAGE_LENGTH,
            cursor: pageParam ?? undefined,
          },
        },
        { signal, operation: types === 'RAW' ? 'fetch datasets' : 'fetch models' },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });

/** Enough for a choice in a form; who has more searches on the page itself. */
const CHOICES_MAX = 500;

/** The user's datasets or models, with the starter models, for a choice in a form. */
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
    queryFn: ({ signal }) => call(getAsset, { params: { id } }, { signal, operation: 'fetch the asset' }),
  });

/** The files of the newest revision page by page; the first ones came with the asset. */
export const filesQuery = ({ dataset_id: id, revision_id, updated_at, files, next_files_cursor }: Asset) =>
  infiniteQueryOptions({
    queryKey: ['asset', 'files', id, { revision_id, updated_at }],
    queryFn: async ({ pageParam, signal }) => {
      if (pageParam === null) return { files, next_cursor: next_files_cursor };
      return call(
        assetInfo,
        { params: { id }, query: { cursor: pageParam } },
        { signal, operation: 'list the files' },
      );
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    initialData: { pages: [{ files, next_cursor: next_files_cursor }], pageParams: [null] },
    // Another revision has another key.
    staleTime: Number.POSITIVE_INFINITY,
  });

/** What an uploaded model can be used for. Each change of its files asks anew. */
export const modelReadinessQuery = (id: string) =>
  queryOptions({
    queryKey: ['asset', 'readiness', id],
    queryFn: ({ signal }) =>
      call(getModelReadiness, { params: { id } }, { signal, operation: 'check the files of the model' }),
  });

/** A page of rows of one file. The revision is in the key, so that a replaced file is read again. */
export const previewQuery = (file: { assetId: string; revisionId: string; path: string; offset: number }) =>
  queryOptions({
    queryKey: ['asset', 'preview', file],
    queryFn: ({ signal }) =>
      call(
        previewFile,
        {
          params: { id: file.assetId },
          query: { path: file.path, offset: file.offset, limit: PREVIEW_ROWS },
        },
        { signal, operation: 'read the file', timeoutMs: 30_000 },
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });

export type NewDataset = {
  title: string;
  category: string;
  tags: string[];
  userId: string;
  idempotencyKey: string;
};

/** Creates an empty dataset; resolves with its id. */
export function useCreateDataset() {
  return useMutation({
    meta: { inPlace: true },
    mutationFn: ({ title, category, tags, userId, idempotencyKey }: NewDataset) =>
      call(
        createAsset,
        { body: { dataset_type: 'RAW', title, category, tags, user_id: userId } },
        { idempotencyKey, operation: 'create dataset' },
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['asset', 'list'] }),
  });
}

export function useUpdateAsset(id: string) {
  return useMutation({
    mutationFn: (values: { title: string; details: string; tags: string[] }) =>
      call(updateAsset, { params: { id }, body: values }, { operation: 'save the changes' }),
    onSuccess: (asset: Asset) => {
      queryClient.setQueryData(assetQuery(id).queryKey, asset);
      return queryClient.invalidateQueries({ queryKey: ['asset', 'list'] });
    },
  });
}

export function useDeleteAsset(id: string) {
  return useMutation({
    meta: { inPlace: true },
    mutationFn: () => call(deleteAsset, { params: { id } }, { operation: 'delete' }),
    onSuccess: () => {
      queryClient.removeQueries({ queryKey: ['asset', 'one', id] });
      return queryClient.invalidateQueries({ queryKey: ['asset', 'list'] });
    },
  });
}

export function useDeleteFile(id: string) {
  return useMutation({
    meta: { title: 'Failed to delete file' },
    mutationFn: (path: string) =>
      call(deleteFile, { params: { id }, body: { file_path: path } }, { operation: 'delete file' }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['asset'] }),
  });
}
