import type { Database } from '../../platform/db/database.ts';
import { selectTitles } from './queries.ts';

/** Returns the titles of datasets and models by their ids, without deleted ones. */
export async function findTitles(db: Database, ids: string[]): Promise<Map<string, string>> {
  const rows = await selectTitles(db, ids);
  return new Map(rows.map(({ id, title }) => [id, title]));
}
