import type { Transaction } from '../../platform/db/database.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { recordAudit } from '../accounts/record-audit.ts';
import { insertAsset as insertRow, type NewAsset } from './queries.ts';

export type { NewAsset };

/** Creates an asset without files in the caller's transaction and returns its id. Amounts are micro-BGL. */
export async function insertAsset(tx: Transaction, asset: NewAsset): Promise<string> {
  const id = await insertRow(tx, asset);
  await recordAudit(tx, {
    userId: asset.ownerUserId,
    action: 'asset.created',
    detail: { asset_id: id, type: asset.datasetType, title: asset.title },
  });
  if (asset.isPublished)
    await recordAudit(tx, { userId: asset.ownerUserId, action: 'asset.published', detail: { asset_id: id } });
  await publishChange(tx, asset.ownerUserId, { topic: 'asset', id });
  return id;
}
