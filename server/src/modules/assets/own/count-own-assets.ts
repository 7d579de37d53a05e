import type { Database } from '../../../platform/db/database.ts';
import * as queries from './queries.ts';

/** Returns the number of a user's datasets and models. */
export async function countOwnAssets(
  db: Database,
  userId: string,
): Promise<{ datasets: number; models: number }> {
  return queries.countOwnAssets(db, userId);
}
