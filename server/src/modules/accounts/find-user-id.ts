import type { Database, Transaction } from '../../platform/db/database.ts';
import { isPerson } from './ensure-system-user.ts';

/** Returns the id of the user with this username, email address or id; undefined if none or deleted. */
export async function findUserId(db: Database | Transaction, handle: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where((where) =>
      where.or([
        where('username', '=', handle.toLowerCase()),
        where('email', '=', handle.toLowerCase()),
        where('id', '=', handle),
      ]),
    )
    .where('deleted_at', 'is', null)
    .where(isPerson)
    .executeTakeFirst();
  return row?.id;
}
