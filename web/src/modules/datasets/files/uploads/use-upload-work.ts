import { formatBytes } from '@bakehouse/contract/labels';
import type { LongWork } from '../../../../ui/long-work.ts';
import { dismissUpload, useAllUploads } from './uploads.ts';

/** Returns this tab's pending uploads as long work. Their ends are announced per batch, not here. */
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
