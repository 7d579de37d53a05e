import { type Asset, assetInfo, deleteFile } from '@bakehouse/contract/assets';
import { linkFile } from '@bakehouse/contract/file-links';
import { METADATA } from '@bakehouse/contract/gallery';
import { call } from '../../../lib/api/api-client.ts';
import { assetReadLimits } from '../../../lib/api/asset-read-limits.ts';
import { downloadFrom } from '../../../lib/api/download.ts';
import { pagedQuery } from '../../../lib/live/paged-query.ts';
import { refetchQueries } from '../../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../../lib/mutation/use-mutation.ts';
import { notify } from '../../../ui/notify.ts';
import { hasRows, isDataFile } from './data-file.ts';

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

type FirstFiles = Pick<Asset, 'files' | 'next_files_cursor'>;

/** False if no file can be trained on; true if an unlisted one might be. */
export function mayHaveDataFiles({ files, next_files_cursor: more }: FirstFiles): boolean {
  return more !== null || files.some(({ path }) => isDataFile(path));
}

/** The same for files with rows to display. */
export function mayHaveRows({ files, next_files_cursor: more }: FirstFiles): boolean {
  return more !== null || files.some(({ path }) => hasRows(path));
}

/**
 * Returns true if a text model may be trained on it; captioned pictures are for image models. If the listed
 * files are pictures without captions, an unlisted file may have rows.
 */
export function mayTrainText(asset: FirstFiles): boolean {
  const paths = asset.files.map(({ path }) => path);
  if (paths.some((path) => isDataFile(path) && path !== METADATA)) return true;
  const hasPictures = paths.some((path) => /\.(png|jpe?g|webp)$/i.test(path));
  if (!hasPictures) return mayHaveDataFiles(asset);
  return asset.next_files_cursor !== null && !paths.includes(METADATA);
}

/**
 * Returns the file whose rows are displayed: the named one, which may be unlisted, otherwise the first with
 * rows.
 */
export function selectedDataFile(
  { files, next_files_cursor: more }: FirstFiles,
  path: string | undefined,
): string | undefined {
  const listed = files.map((file) => file.path).filter(hasRows);
  const isThere = path !== undefined && hasRows(path) && (more !== null || listed.includes(path));
  return isThere ? path : listed[0];
}

/** Returns the same file if training reads it. */
export function fileToTrainOn(asset: FirstFiles, path: string | undefined): string | undefined {
  const selected = selectedDataFile(asset, path);
  return selected !== undefined && isDataFile(selected) ? selected : undefined;
}
