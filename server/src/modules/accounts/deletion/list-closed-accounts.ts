import type { Database } from '../../../platform/db/database.ts';
import { selectToPurge } from './deletion-queries.ts';

/** Users who have deleted their account, and of whom something is left. */
export async function listClosedAccounts(db: Database): Promise<string[]> {
  return selectToPurge(db);
}
