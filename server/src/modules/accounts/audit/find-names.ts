import type { Database } from '../../../platform/db/database.ts';
import { selectNames } from './queries.ts';

/** What users and API keys are called, by their ids; those whose account was deleted are left out. */
export async function findNames(
  db: Database,
  ids: { userIds: string[]; keyIds: string[] },
): Promise<Map<string, string>> {
  const rows = await selectNames(db, ids);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
