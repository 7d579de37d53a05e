import type { Database } from '../../../platform/db/database.ts';
import { selectLiveRunIds } from '../queries.ts';

/** Returns the ids of a user's unfinished runs. */
export async function listLiveRuns(db: Database, userId: string): Promise<string[]> {
  return selectLiveRunIds(db, userId);
}
