import type { Database } from '../../../platform/db/database.ts';
import { selectSignInMethods } from './sign-in-queries.ts';

/** By what the user signs in, `credential` being a password; without its secrets. */
export async function listSignInMethods(
  db: Database,
  userId: string,
): Promise<{ provider: string; linked_at: string }[]> {
  const rows = await selectSignInMethods(db, userId);
  return rows.map((row) => ({ provider: row.provider_id, linked_at: row.created_at.toISOString() }));
}
