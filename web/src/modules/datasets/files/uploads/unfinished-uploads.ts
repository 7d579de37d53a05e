import { abandonUpload, listUploads } from '@bakehouse/contract/asset-uploads';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { call } from '../../../../lib/api/api-client.ts';
import { ApiError } from '../../../../lib/api/api-error.ts';
import { endpointQuery } from '../../../../lib/api/endpoint-query.ts';
import { refetchQueries } from '../../../../lib/mutation/refetch-queries.ts';

/** A multipart upload that has started. */
export type Unfinished = ResponseOf<typeof listUploads>['uploads'][number];

/** Lists the unfinished uploads to an asset, of this and other tabs. */
export const unfinishedQuery = (assetId: string) =>
  endpointQuery(['asset', 'uploads', assetId], listUploads, { params: { id: assetId } });

export function readUnfinishedAgain(assetId: string): void {
  refetchQueries(['asset', 'uploads', assetId]);
}

/** Deletes an upload's parts on the server. Ignores an upload that has already ended. */
export async function deleteUpload(assetId: string, uploadId: string): Promise<void> {
  await call(abandonUpload, { params: { id: assetId, uploadId } }).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  });
  readUnfinishedAgain(assetId);
}

/** Deletes the upload of a path if the server is reachable; otherwise the server deletes it after a week. */
export async function abandonPath(assetId: string, path: string): Promise<void> {
  try {
    const { uploads } = await call(listUploads, { params: { id: assetId } });
    const found = uploads.find((one) => one.path === path);
    if (found) await deleteUpload(assetId, found.upload_id);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}
