import type { Generation } from '@bakehouse/contract/generations';
import { deleteVideo, downloadVideo } from '@bakehouse/contract/videos';
import { call, callRaw } from '../../lib/api/api-client.ts';
import { ApiError } from '../../lib/api/api-error.ts';
import { saveAs } from '../../lib/api/download.ts';
import { refetchRows } from '../../lib/mutation/refetch-queries.ts';
import { useMutation } from '../../lib/mutation/use-mutation.ts';
import { notify } from '../../ui/notify.ts';
import { removeFromLists } from './deletion-calls.ts';
import { LISTS } from './generation-queries.ts';

/** A video has at most a few hundred megabytes. */
const DOWNLOAD_TIMEOUT_MS = 10 * 60_000;

/** Deletes a video through the videos API. */
export function useDeleteVideo() {
  return useMutation({
    mutationFn: async ({ id }: Generation) => {
      if (!id) throw new Error('Missing parameters for deletion');
      try {
        await call(deleteVideo, { params: { id } });
      } catch (error) {
        throw inVideoWords(error, 'Failed to delete video');
      }
    },
    onSuccess: (_, { id }) => {
      notify.success('Video deleted successfully');
      removeFromLists(id);
      refetchRows(LISTS, [id]);
    },
  });
}

/** Downloads a video through the videos API. */
export function useDownloadVideo() {
  return useMutation({
    mutationFn: async ({ id, generator }: Pick<Generation, 'id' | 'generator'>) => {
      try {
        const response = await callRaw(downloadVideo, { params: { id } }, { timeoutMs: DOWNLOAD_TIMEOUT_MS });
        saveAs(await response.blob(), `${generator}-${id.slice(-8)}.mp4`);
      } catch (error) {
        throw inVideoWords(error, 'Failed to download video');
      }
    },
    onSuccess: () => notify.success('Download completed'),
  });
}

/** Returns the page's message for the status; a 401 or 409 keeps the server's message. */
function inVideoWords(error: unknown, otherwise: string): Error {
  const status = error instanceof ApiError ? error.status : undefined;
  if (error instanceof ApiError && (status === 401 || status === 409)) return error;
  const sentences: Record<number, string> = {
    400: 'Video not ready for download',
    403: 'Permission denied',
    404: 'Video not found',
  };
  return new Error((status !== undefined && sentences[status]) || otherwise, { cause: error });
}
