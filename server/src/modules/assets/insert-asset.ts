import type { Transaction } from '../../platform/db/database.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { insertAsset as insertRow, type NewAsset } from './queries.ts';

export type { NewAsset };

/** Makes a dataset or a model without files in someone's transaction and returns its id. Amounts are micro-BGL. */
export async function insertAsset(tx: Transaction, asset: NewAsset): Promise<string> {
  const id = await insertRow(tx, asset);
  await publishChange(tx, asset.ownerUserId, { topic: 'asset', id });
  return id;
}
