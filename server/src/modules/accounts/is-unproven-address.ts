import type { Config } from '../../config.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';

/**
 * Whether a username, email address or id is an address that nobody has confirmed, on a server that has addresses
 * confirmed: whoever typed it at sign-up may not be its owner.
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
