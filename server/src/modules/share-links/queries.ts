import type { SharedKind } from '@bakehouse/contract/share-links';
import type { Selectable } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';
import type { DB } from '../../platform/db/schema.generated.ts';

/* The SQL of share links. */

type Db = Database | Transaction;
type LinkRow = Pick<Selectable<DB['share_links']>, 'id' | 'created_at'>;
/** A user's thing. */
export type Own = { kind: SharedKind; id: string; userId: string };

const columns = { generation: 'generation_id', run: 'run_id', model: 'asset_id' } as const;

/** The link of a user's thing. */
export async function selectLink(db: Db, { kind, id, userId }: Own): Promise<LinkRow | undefined> {
  return db
    .selectFrom('share_links')
    .select(['id', 'created_at'])
    .where(columns[kind], '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
}

/** Undefined where there is one already. */
export async function insertLink(tx: Transaction, { kind, id, userId }: Own): Promise<LinkRow | undefined> {
  return tx
    .insertInto('share_links')
    .values({
      user_id: userId,
      generation_id: kind === 'generation' ? id : null,
      run_id: kind === 'run' ? id : null,
      asset_id: kind === 'model' ? id : null,
    })
    .onConflict((conflict) => conflict.column(columns[kind]).doNothing())
    .returning(['id', 'created_at'])
    .executeTakeFirst();
}

/** Answers whether there was one. */
export async function deleteLink(tx: Transaction, { kind, id, userId }: Own): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('share_links')
    .where(columns[kind], '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** All links of a user, oldest first. */
export async function selectLinksOf(db: Db, userId: string) {
  return db
    .selectFrom('share_links')
    .select(['generation_id', 'run_id', 'asset_id as model_id', 'created_at'])
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

export async function deleteLinksOf(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('share_links').where('user_id', '=', userId).execute();
}

/** The thing behind a link. */
export async function selectShared(db: Db, linkId: string): Promise<Own | undefined> {
  const row = await db.selectFrom('share_links').selectAll().where('id', '=', linkId).executeTakeFirst();
  if (!row) return undefined;
  const userId = row.user_id;
  if (row.generation_id !== null) return { kind: 'generation', id: row.generation_id, userId };
  return row.run_id !== null
    ? { kind: 'run', id: row.run_id, userId }
    : { kind: 'model', id: row.asset_id ?? '', userId };
}
