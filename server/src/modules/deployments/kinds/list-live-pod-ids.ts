import type { Database } from '../../../platform/db/database.ts';
import { selectLivePodIds } from '../queries.ts';

/** Returns the ids of a user's live deployments of all kinds. */
export async function listLivePodIds(db: Database, userId: string): Promise<string[]> {
  return selectLivePodIds(db, userId);
}
