import { formatBytes } from '@bakehouse/contract/labels';
import type { LongWork } from '../../../../ui/long-work.ts';
import { dismissUpload, useAllUploads } from './uploads.ts';

/**
 * The uploads of this browser tab, as the list of long work shows them. What was sent together is announced
 * together when it ends, and what has failed stands on its page.
 */
export function useUploadWork(): LongWork[] {
  return useAllUploads()
    .filter(({ state }) => state === 'waiting' || state === 'sending')
    .map((one) => ({
      id: `upload-${one.id}`,
      title: one.path,
      phase:
        one.state === 'waiting'
          ? 'Waiting to be uploaded'
          : `Uploading, ${formatBytes(one.sentBytes)} of ${formatBytes(one.sizeBytes)}`,
      progress: one.sizeBytes === 0 ? null : (100 * one.sentBytes) / one.sizeBytes,
      cancel: { run: () => dismissUpload(one.id) },
      end: null,
    }));
}
