import type { Config } from '../../config.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';

/**
 * Returns true if `handle` is an unverified email address on a server that verifies addresses: the account
 * may not belong to the owner of the address.
 */
export async function isUnprovenAddress(
  db: Database | Transaction,
  { mail }: Pick<Config, 'mail'>,
  handle: string,
): Promise<boolean> {
  if (!handle.includes('@') || mail === null) return false;
  const owner = await db
    .selectFrom('users')
    .select('id')
    .where('email', '=', handle.toLowerCase())
    .where('email_verified', '=', true)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  return owner === undefined;
}
