import { type Asset, assetInfo, deleteFile } from '@bakehouse/contract/assets';
import { linkFile } from '@bakehouse/contract/file-links';
import { call } from '../../../lib/api/api-client.ts';
import { assetReadLimits } from '../../../lib/api/asset-read-limits.ts';
import { downloadFrom } from '../../../lib/api/download.ts';
import { pagedQuery } from '../../../lib/live/paged-query.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { notify } from '../../../ui/notify.ts';

/** Pages through the files of the newest revision; the first page came with the asset. */
export const filesQuery = ({ dataset_id: id, revision_id, updated_at, files, next_files_cursor }: Asset) => ({
  ...pagedQuery({
    queryKey: ['asset', 'files', id, { revision_id, updated_at }],
    rows: 'files',
    id: 'path',
    // Each revision has its own key.
    staleTime: Number.POSITIVE_INFINITY,
    read: async (cursor, signal): Promise<Pick<Asset, 'files'> & { next_cursor: string | null }> => {
      if (cursor === undefined) return { files, next_cursor: next_files_cursor };
      return call(assetInfo, { params: { id }, query: { cursor } }, { signal, ...assetReadLimits() });
    },
  }),
  initialData: { pages: [{ files, next_cursor: next_files_cursor }], pageParams: [null] },
});

/** Downloads a file of a revision. Defaults to the newest. */
export async function downloadAssetFile(id: string, path: string, revisionId?: string): Promise<void> {
  const { url } = await call(linkFile, { params: { id }, query: { path, revision_id: revisionId } });
  downloadFrom(url, path.split('/').at(-1) ?? path);
}

export function useDeleteFile(id: string) {
  return useMutation({
    mutationKey: ['asset'],
    meta: { title: 'Failed to delete file' },
    mutationFn: (path: string) => call(deleteFile, { params: { id }, body: { file_path: path } }),
    onSuccess: () => {
      notify.success('File deleted successfully');
      refetchQueries(['asset']);
    },
  });
}
