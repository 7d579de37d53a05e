import type { Selectable } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import type { DB } from '../../../platform/db/schema.generated.ts';
import { type GenerationRow, toRow } from '../queries.ts';

/* The SQL of share links. */

type Db = Database | Transaction;
type ShareRow = Pick<Selectable<DB['generation_shares']>, 'id' | 'created_at'>;
type Own = { generationId: string; userId: string };

/** The link of a user's generation. */
export async function selectShare(db: Db, { generationId, userId }: Own): Promise<ShareRow | undefined> {
  return db
    .selectFrom('generation_shares')
    .select(['id', 'created_at'])
    .where('generation_id', '=', generationId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
}

export async function insertShare(tx: Transaction, { generationId, userId }: Own): Promise<ShareRow> {
  return tx
    .insertInto('generation_shares')
    .values({ generation_id: generationId, user_id: userId })
    .returning(['id', 'created_at'])
    .executeTakeFirstOrThrow();
}

/** Answers whether there was one. */
export async function deleteShare(tx: Transaction, { generationId, userId }: Own): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('generation_shares')
    .where('generation_id', '=', generationId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** All links of a user, oldest first. */
export async function selectSharesOf(db: Db, userId: string) {
  return db
    .selectFrom('generation_shares')
    .select(['generation_id', 'created_at'])
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** The generation behind a link. */
export async function selectSharedGeneration(db: Db, shareId: string): Promise<GenerationRow | undefined> {
  const row = await db
    .selectFrom('generation_shares as share')
    .innerJoin('generations', 'generations.id', 'share.generation_id')
    .selectAll('generations')
    .where('share.id', '=', shareId)
    .executeTakeFirst();
  return row && toRow(row);
}
