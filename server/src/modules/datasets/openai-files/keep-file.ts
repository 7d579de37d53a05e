import type { Transaction } from '../../../platform/db/database.ts';
import type { Blob } from '../../../platform/storage/blob-store.ts';
import type { readQuota } from '../../assets/files/storage-quota.ts';
import { addFile } from '../../assets/files/upload/add-file.ts';
import { insertAsset } from '../../assets/insert-asset.ts';
import { type FilePurpose, insertPurpose } from './file-queries.ts';

type NewFile = { userId: string; path: string; blob: Blob; purpose: FilePurpose };

/**
 * Creates a private dataset of this one file and returns its id. A null `quota` skips the quota check, for
 * files that are already paid for. Throws the errors of `takeStorage`.
 */
export async function keepFile(
  tx: Transaction,
  { userId, path, blob, purpose }: NewFile,
  quota: Awaited<ReturnType<typeof readQuota>>,
): Promise<string> {
  const assetId = await insertAsset(tx, {
    ownerUserId: userId,
    datasetType: 'RAW',
    title: path,
    category: '',
    details: '',
    tags: [],
  });
  const params = { path: 'file', bytes: 'file' };
  await addFile(tx, { assetId, userId, path, blob, quota, family: null, params });
  if (purpose !== 'fine-tune') await insertPurpose(tx, assetId, purpose);
  return assetId;
}
