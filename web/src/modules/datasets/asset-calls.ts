import {
  type Asset,
  createAsset,
  deleteAsset,
  getModelReadiness,
  previewFile,
  updateAsset,
} from '@bakehouse/contract/assets';
import { call } from '../../lib/api/api-client.ts';
import { assetReadLimits } from '../../lib/api/asset-read-limits.ts';
import { endpointQuery } from '../../lib/api/endpoint-query.ts';
import { queryClient } from '../../lib/api/query-client.ts';
import { refetchQueries } from '../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../lib/mutation/use-mutation.ts';
import { assetQuery } from './asset-queries.ts';
import { PREVIEW_ROWS } from './files/viewer/rows-location.ts';

/** Reads what an uploaded model can be used for. Refetched after each change of its files. */
export const modelReadinessQuery = (id: string) =>
  endpointQuery(
    ['asset', 'readiness', id],
    getModelReadiness,
    { params: { id } },
    { call: assetReadLimits() },
  );

/** One page of a file's rows. The key contains the revision, so a replaced file is read again. */
export const previewQuery = (file: { assetId: string; revisionId: string; path: string; offset: number }) =>
  endpointQuery(
    ['asset', 'preview', file],
    previewFile,
    {
      params: { id: file.assetId },
      query: { path: file.path, revision_id: file.revisionId, offset: file.offset, limit: PREVIEW_ROWS },
    },
    { staleTime: Number.POSITIVE_INFINITY, call: assetReadLimits() },
  );

export type NewDataset = {
  title: string;
  category: string;
  tags: string[];
  useIpfs?: boolean;
  userId: string;
  idempotencyKey: string;
};

/** Refreshes all asset lists and search results. */
function readListsAgain(): void {
  refetchQueries(['asset', 'list'], ['asset', 'search']);
}

/** Creates an empty dataset. Resolves with its id. */
export async function createDataset({ useIpfs, userId, idempotencyKey, ...words }: NewDataset) {
  const id = await call(
    createAsset,
    {
      body: {
        ...{ dataset_type: 'RAW', ...words, user_id: userId },
        ...(useIpfs !== undefined && { use_ipfs: useIpfs }),
      },
    },
    { idempotencyKey, operation: 'create dataset' },
  );
  readListsAgain();
  return id;
}

export function useCreateDataset() {
  return useMutation({ mutationKey: ['asset'], meta: { inPlace: true }, mutationFn: createDataset });
}

export function useUpdateAsset(id: string) {
  return useMutation({
    mutationKey: ['asset'],
    mutationFn: (changes: {
      title?: string;
      details?: string;
      tags?: string[];
      use_ipfs?: boolean;
      is_published?: boolean;
    }) => call(updateAsset, { params: { id }, body: changes }),
    onSuccess: (asset: Asset) => {
      queryClient.setQueryData(assetQuery(id).queryKey, asset);
      readListsAgain();
    },
  });
}

export function useDeleteAsset(id: string) {
  return useMutation({
    mutationKey: ['asset'],
    meta: { inPlace: true },
    mutationFn: () => call(deleteAsset, { params: { id } }),
    onSuccess: () => {
      queryClient.removeQueries({ queryKey: ['asset', 'one', id] });
      readListsAgain();
    },
  });
}
