import { abandonUpload, listUploads } from '@bakehouse/contract/asset-uploads';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { call } from '../../../../lib/api/api-client.ts';
import { ApiError } from '../../../../lib/api/api-error.ts';
import { endpointQuery } from '../../../../lib/api/endpoint-query.ts';
import { readAgain } from '../../../../lib/mutation/read-again.ts';

/** An upload in parts of which the server has some. */
export type Unfinished = ResponseOf<typeof listUploads>['uploads'][number];

/** The uploads to an asset that are unfinished, in this tab or another. */
export const unfinishedQuery = (assetId: string) =>
  endpointQuery(['asset', 'uploads', assetId], listUploads, { params: { id: assetId } });

export function readUnfinishedAgain(assetId: string): void {
  readAgain(['asset', 'uploads', assetId]);
}

/** Deletes what the server has of an upload. One that has ended meanwhile is passed over. */
export async function abandon(assetId: string, uploadId: string): Promise<void> {
  await call(abandonUpload, { params: { id: assetId, uploadId } }).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  });
  readUnfinishedAgain(assetId);
}

/** Deletes what the server has of a path, as far as it can be reached: what is left it deletes by itself, a week later. */
export async function abandonPath(assetId: string, path: string): Promise<void> {
  try {
    const { uploads } = await call(listUploads, { params: { id: assetId } });
    const found = uploads.find((one) => one.path === path);
    if (found) await abandon(assetId, found.upload_id);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}
