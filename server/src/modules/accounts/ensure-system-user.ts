import { randomBytes } from 'node:crypto';
import type { Transaction } from '../../platform/db/database.ts';

/** Step: makes a user who owns what nobody in particular does, once. Nobody can sign in as them. */
export async function ensureSystemUser(
  tx: Transaction,
  { id, name }: { id: string; name: string },
): Promise<void> {
  const known = await tx.selectFrom('users').select('id').where('id', '=', id).executeTakeFirst();
  if (known) return;
  // A name that nobody has taken before.
  const username = `${id}-${randomBytes(4).toString('hex')}`;
  await tx
    .insertInto('users')
    .values({ id, name, username, email: `${username}@bakehouse.invalid` })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}
