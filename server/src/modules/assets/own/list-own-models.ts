import type { Database } from '../../../platform/db/database.ts';
import { selectOwnModels } from './queries.ts';

/** So many of a user's models that have files, the youngest first. */
export async function listOwnModels(
  db: Database,
  asked: { userId: string; limit: number },
): Promise<{ id: string; title: string }[]> {
  return selectOwnModels(db, asked);
}
