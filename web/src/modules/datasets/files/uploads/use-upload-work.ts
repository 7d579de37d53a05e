import { formatBytes } from '@bakehouse/contract/labels';
import { countOf } from '../../../../lib/format/count-of.ts';
import { formatNumber } from '../../../../lib/format/format-number.ts';
import type { LongWork } from '../../../../ui/long-work.ts';
import { cancelUploads, useUploadBatches } from './uploads.ts';

/**
 * Returns this tab's pending uploads as long work, one item per dataset or model. Their ends are announced by
 * `announceUpload`.
 */
export function useUploadWork(): LongWork[] {
  return useUploadBatches().map(({ assetId, path, sizeBytes, files, filesDone, percent }) => ({
    id: `upload-${assetId}`,
    title: files === 1 ? path : `Upload of ${countOf(files, 'file')}`,
    phase:
      files === 1
        ? `Uploading ${formatBytes(sizeBytes)}`
        : `${formatNumber(filesDone)} of ${countOf(files, 'file')}`,
    progress: percent,
    cancel: { run: () => cancelUploads(assetId) },
    end: null,
  }));
}
