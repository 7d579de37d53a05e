import {
  type Asset,
  assetInfo,
  createAsset,
  deleteAsset,
  deleteFile,
  getModelReadiness,
  previewFile,
  updateAsset,
} from '@bakehouse/contract/assets';
import { linkFile } from '@bakehouse/contract/file-links';
import { infiniteQueryOptions, queryOptions, useMutation } from '@tanstack/react-query';
import { call } from '../../lib/api/api-client.ts';
import { downloadFrom } from '../../lib/api/download.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { storedRead } from '../../lib/api/stored-read.ts';
import { notify } from '../../ui/notify.ts';
import { assetQuery } from './asset-queries.ts';

export { assetListQuery, assetQuery, useAllAssets } from './asset-queries.ts';
export { isDataFile } from './files/data-file.ts';
export { UploadList } from './files/upload-list.tsx';
export { type Upload, uploadFiles, useUploads } from './files/uploads.ts';

export const PREVIEW_ROWS = 100;

/** The files of the newest revision page by page; the first ones came with the asset. */
export const filesQuery = ({ dataset_id: id, revision_id, updated_at, files, next_files_cursor }: Asset) =>
  infiniteQueryOptions({
    queryKey: ['asset', 'files', id, { revision_id, updated_at }],
    queryFn: async ({ pageParam, signal }) => {
      if (pageParam === null) return { files, next_cursor: next_files_cursor };
      return call(
        assetInfo,
        { params: { id }, query: { cursor: pageParam } },
        { signal, ...storedRead(), operation: 'list the files' },
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
      call(
        getModelReadiness,
        { params: { id } },
        { signal, ...storedRead(), operation: 'check the files of the model' },
      ),
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
          query: { path: file.path, revision_id: file.revisionId, offset: file.offset, limit: PREVIEW_ROWS },
        },
        { signal, ...storedRead(), operation: 'read the file' },
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
    mutationKey: ['asset'],
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
    mutationKey: ['asset'],
    mutationFn: (changes: { title?: string; details?: string; tags?: string[] }) =>
      call(updateAsset, { params: { id }, body: changes }, { operation: 'save the changes' }),
    onSuccess: (asset: Asset) => {
      queryClient.setQueryData(assetQuery(id).queryKey, asset);
      return queryClient.invalidateQueries({ queryKey: ['asset', 'list'] });
    },
  });
}

export function useDeleteAsset(id: string) {
  return useMutation({
    mutationKey: ['asset'],
    meta: { inPlace: true },
    mutationFn: () => call(deleteAsset, { params: { id } }, { operation: 'delete' }),
    onSuccess: () => {
      queryClient.removeQueries({ queryKey: ['asset', 'one', id] });
      return queryClient.invalidateQueries({ queryKey: ['asset', 'list'] });
    },
  });
}

/** Has the browser download one file of the newest revision. */
export async function downloadAssetFile(id: string, path: string): Promise<void> {
  const { url } = await call(linkFile, { params: { id }, query: { path } }, { operation: 'download file' });
  downloadFrom(url, path.split('/').at(-1) ?? path);
}

export function useDeleteFile(id: string) {
  return useMutation({
    mutationKey: ['asset'],
    meta: { title: 'Failed to delete file' },
    mutationFn: (path: string) =>
      call(deleteFile, { params: { id }, body: { file_path: path } }, { operation: 'delete file' }),
    onSuccess: () => {
      notify.success('File deleted successfully');
      return queryClient.invalidateQueries({ queryKey: ['asset'] });
    },
  });
}
