import type { Database } from '../../../platform/db/database.ts';
import { selectOwnModels } from './queries.ts';

/** Returns up to `limit` of a user's models with files, newest first. */
export async function listOwnModels(
  db: Database,
  asked: { userId: string; limit: number },
): Promise<{ id: string; title: string }[]> {
  return selectOwnModels(db, asked);
}
