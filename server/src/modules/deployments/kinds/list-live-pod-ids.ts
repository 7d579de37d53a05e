import type { Database } from '../../../platform/db/database.ts';
import { selectLivePodIds } from '../queries.ts';

/** Ids of a user's deployments of all kinds that have not ended. */
export async function listLivePodIds(db: Database, userId: string): Promise<string[]> {
  return selectLivePodIds(db, userId);
}
