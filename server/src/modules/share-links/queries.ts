import type { Selectable } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';
import type { DB } from '../../platform/db/schema.generated.ts';

type Db = Database | Transaction;
type LinkRow = Pick<Selectable<DB['share_links']>, 'id' | 'created_at'>;
/** A generation and its owner. */
export type Own = { id: string; userId: string };

export async function selectLink(db: Db, { id, userId }: Own): Promise<LinkRow | undefined> {
  return db
    .selectFrom('share_links')
    .select(['id', 'created_at'])
    .where('generation_id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
}

/** Returns undefined if the generation already has a link. */
export async function insertLink(tx: Transaction, { id, userId }: Own): Promise<LinkRow | undefined> {
  return tx
    .insertInto('share_links')
    .values({ user_id: userId, generation_id: id })
    .onConflict((conflict) => conflict.column('generation_id').doNothing())
    .returning(['id', 'created_at'])
    .executeTakeFirst();
}

/** Returns true if a link was deleted. */
export async function deleteLink(tx: Transaction, { id, userId }: Own): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('share_links')
    .where('generation_id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Returns the generation behind a link. */
export async function selectShared(db: Db, linkId: string): Promise<Own | undefined> {
  return db
    .selectFrom('share_links')
    .select(['generation_id as id', 'user_id as userId'])
    .where('id', '=', linkId)
    .executeTakeFirst();
}
