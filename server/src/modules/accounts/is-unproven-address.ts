import type { Config } from '../../config.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';

/**
 * Whether `handle` is an email address that is not confirmed, on a server that confirms addresses: the account may not
 * belong to the address's owner.
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
