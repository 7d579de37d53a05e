import type { Database } from '../../../platform/db/database.ts';
import { selectLiveRunIds } from '../queries.ts';

/** Ids of a user's runs that have not ended. */
export async function listLiveRuns(db: Database, userId: string): Promise<string[]> {
  return selectLiveRunIds(db, userId);
}
