import type { Database, Transaction } from '../../../platform/db/database.ts';
import type { AssetRow } from '../queries.ts';
import { selectReadableIds } from './select-readable-ids.ts';

/** Removes the parent models that the user may not read from other users' rows. */
export async function hideParents(
  db: Database | Transaction,
  { rows, userId }: { rows: AssetRow[]; userId: string },
): Promise<AssetRow[]> {
  const foreign = rows.filter(({ owner_user_id: owner }) => owner !== userId);
  const ids = [...new Set(foreign.flatMap(({ parent_asset_id: id }) => id ?? []))];
  if (ids.length === 0) return rows;
  const readable = await selectReadableIds(db, { ids, userId });
  const isShown = (row: AssetRow, id: string) => row.owner_user_id === userId || readable.has(id);
  return rows.map((row) => {
    const id = row.parent_asset_id;
    return id === null || isShown(row, id) ? row : { ...row, parent_asset_id: null };
  });
}
