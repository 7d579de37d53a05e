import type { Database } from '../../../platform/db/database.ts';
import { findPasswordHash } from '../sign-in/sign-in-queries.ts';

/** Whether the user can sign in with a password. */
export async function hasPassword(db: Database, userId: string): Promise<boolean> {
  return (await findPasswordHash(db, userId)) !== null;
}
