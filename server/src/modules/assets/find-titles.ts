import type { Database } from '../../platform/db/database.ts';
import { selectTitles } from './queries.ts';

/** What datasets and models are called, by their ids; those that were deleted are left out. */
export async function findTitles(db: Database, ids: string[]): Promise<Map<string, string>> {
  const rows = await selectTitles(db, ids);
  return new Map(rows.map(({ id, title }) => [id, title]));
}
