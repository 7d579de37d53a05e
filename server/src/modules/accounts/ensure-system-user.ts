import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Transaction } from '../../platform/db/database.ts';

const PREFIX = 'system:';

/** Returns the id of a system user. No other id or username starts with this prefix. */
export function systemUserId(name: string): string {
  return PREFIX + name;
}

/** SQL: true if a row of `users` is a person. Users cannot name system users, e.g. to send credits. */
export const isPerson = sql<boolean>`not starts_with(users.id, ${PREFIX})`;

/** Step: creates a system user unless it exists. System users cannot sign in. */
export async function ensureSystemUser(
  tx: Transaction,
  { id, name }: { id: string; name: string },
): Promise<void> {
  const known = await tx.selectFrom('users').select('id').where('id', '=', id).executeTakeFirst();
  if (known) return;
  // A random suffix avoids conflicts with existing usernames.
  const username = `${name.toLowerCase()}-${randomBytes(4).toString('hex')}`;
  await tx
    .insertInto('users')
    .values({ id, name, username, email: `${username}@bakehouse.invalid` })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}
