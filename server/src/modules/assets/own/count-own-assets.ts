import type { Database } from '../../../platform/db/database.ts';
import * as queries from './queries.ts';

/** How many datasets and models a user has. */
export async function countOwnAssets(
  db: Database,
  userId: string,
): Promise<{ datasets: number; models: number }> {
  return queries.countOwnAssets(db, userId);
}
