import type { Database } from '../../../platform/db/database.ts';

/** What each API key of the user is called, by its id; those that were revoked too. */
export async function listKeyNames(db: Database, userId: string): Promise<Map<string, string>> {
  const rows = await db.selectFrom('api_keys').select(['id', 'name']).where('user_id', '=', userId).execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}
