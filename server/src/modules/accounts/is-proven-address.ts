import type { Database } from '../../platform/db/database.ts';

/** Whether the owner of this email address has an account, and has proven that it is theirs. */
export async function isProvenAddress(db: Database, email: string): Promise<boolean> {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where('email', '=', email.toLowerCase())
    .where('email_verified', '=', true)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return row !== undefined;
}
