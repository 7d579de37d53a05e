import type { Database } from '../../platform/db/database.ts';

/** The address of a user. */
export async function findEmail(db: Database, userId: string): Promise<string> {
  const { email } = await db
    .selectFrom('users')
    .select('email')
    .where('id', '=', userId)
    .executeTakeFirstOrThrow();
  return email;
}
