import type { Database } from '../../platform/db/database.ts';
import { selectOwnAssets } from './queries.ts';

/** All assets of a user, the youngest first: what was made from others before those. */
export async function listOwnAssets(
  db: Database,
  userId: string,
): Promise<{ id: string; dataset_type: string }[]> {
  return selectOwnAssets(db, userId);
}
