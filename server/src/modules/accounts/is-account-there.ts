import type { Database } from '../../platform/db/database.ts';

/** Whether there is such an account, which was not deleted. */
export async function isAccountThere(db: Database, userId: string): Promise<boolean> {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where('id', '=', userId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row !== undefined;
}
