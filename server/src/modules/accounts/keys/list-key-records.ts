import type { Database } from '../../../platform/db/database.ts';
import { selectKeyRecords } from './key-queries.ts';

/** All API keys that the user has or had, oldest first, without their secrets. */
export async function listKeyRecords(db: Database, userId: string) {
  return selectKeyRecords(db, userId);
}
