import type { Database, Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { deleteAssetRow, deletePiece, lockAsset } from './queries.ts';

/** Deleting this many rows takes some tenths of a second, during which other transactions may wait. */
const PIECE_ROWS = 5_000;

/** Deletes one piece of a deleted asset's rows. Returns false if there are more. */
export async function purgeAsset(
  db: Database,
  input: { assetId: string; pieceRows?: number },
): Promise<boolean> {
  return inTransaction(db, (tx) => purgePiece(tx, input));
}

async function purgePiece(
  tx: Transaction,
  { assetId, pieceRows = PIECE_ROWS }: { assetId: string; pieceRows?: number },
): Promise<boolean> {
  await lockAsset(tx, assetId);
  for (const table of ['asset_files', 'revisions'] as const) {
    if ((await deletePiece(tx, table, assetId, pieceRows)) === pieceRows) return false;
  }
  await deleteAssetRow(tx, assetId);
  return true;
}
