import type { Database, Transaction } from '../../platform/db/database.ts';
import { selectUserId } from './audit/queries.ts';

/** The id of the user whose username, email address or id this is; undefined too where the account was deleted. */
export async function findUserId(db: Database | Transaction, handle: string): Promise<string | undefined> {
  return selectUserId(db, handle);
}
