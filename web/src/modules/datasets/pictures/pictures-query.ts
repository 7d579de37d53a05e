import { listFilePictures } from '@bakehouse/contract/data-files';
import { assetReadLimits } from '../../../lib/api/asset-read-limits.ts';
import { endpointPages } from '../../../lib/live/paged-query.ts';

/** Slightly longer than the server's time limit for a page. */
const PAGE_MS = 100_000;

/** The picture files of a revision with thumbnails, page by page. */
export const picturesQuery = (assetId: string, revisionId: string | null) =>
  endpointPages(
    ['asset', 'pictures', { assetId, revisionId }],
    listFilePictures,
    { params: { id: assetId } },
    {
      rows: 'pictures',
      id: 'path',
      staleTime: Number.POSITIVE_INFINITY,
      call: { ...assetReadLimits(), timeoutMs: PAGE_MS },
    },
  );
