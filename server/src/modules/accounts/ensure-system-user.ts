import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Transaction } from '../../platform/db/database.ts';

const PREFIX = 'system:';

/** The id of a user who is no person: no other id or username begins so. Pure. */
export function systemUserId(name: string): string {
  return PREFIX + name;
}

/** In SQL: whether a row of `users` is a person. Nobody can name another user, such as to send them credits. */
export const isPerson = sql<boolean>`not starts_with(users.id, ${PREFIX})`;

/** Step: makes the user who owns what nobody in particular does, once. Nobody can sign in as them. */
export async function ensureSystemUser(
  tx: Transaction,
  { id, name }: { id: string; name: string },
): Promise<void> {
  const known = await tx.selectFrom('users').select('id').where('id', '=', id).executeTakeFirst();
  if (known) return;
  // Names that nobody has taken before.
  const username = `${name.toLowerCase()}-${randomBytes(4).toString('hex')}`;
  await tx
    .insertInto('users')
    .values({ id, name, username, email: `${username}@bakehouse.invalid` })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}
