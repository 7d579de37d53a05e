import type { Conversation } from '@bakehouse/contract/conversations';
import { sql } from 'kysely';
import { type Database, type Transaction, toJson } from '../../../platform/db/database.ts';

type Own = { userId: string; id: string };
export type SavedConversation = { version: number; saveId: string; content: Conversation };

export async function selectConversation(db: Database, own: Own): Promise<SavedConversation | undefined> {
  const row = await db
    .selectFrom('conversations')
    .select(['version', 'save_id', 'content'])
    .where('user_id', '=', own.userId)
    .where('id', '=', own.id)
    .executeTakeFirst();
  return row && { version: row.version, saveId: row.save_id, content: row.content as Conversation };
}

/** False where it is not at that version: 0 where there is none. */
export async function saveAtVersion(
  tx: Transaction,
  { userId, id, version, saveId, content, now }: Own & SavedConversation & { now: Date },
): Promise<boolean> {
  const columns = {
    version: version + 1,
    save_id: saveId,
    content: toJson(content),
    size_bytes: Buffer.byteLength(JSON.stringify(content)),
    saved_at: now,
  };
  if (version > 0) {
    const row = await tx
      .updateTable('conversations')
      .set(columns)
      .where('user_id', '=', userId)
      .where('id', '=', id)
      .where('version', '=', version)
      .returning('id')
      .executeTakeFirst();
    return row !== undefined;
  }
  const row = await tx
    .insertInto('conversations')
    .values({ user_id: userId, id, ...columns })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Deletes the oldest beyond so many, or so many bytes; never the newest. */
export async function deleteOldest(
  tx: Transaction,
  { userId, keep, bytes }: { userId: string; keep: number; bytes: number },
): Promise<void> {
  await sql`
    delete from conversations using (
      select id, row_number() over newest as place, sum(size_bytes) over newest as bytes
      from conversations where user_id = ${userId}
      window newest as (order by saved_at desc, id)
    ) as ranked
    where conversations.user_id = ${userId} and conversations.id = ranked.id and ranked.place > 1
      and (ranked.place > ${keep} or ranked.bytes > ${bytes})`.execute(tx);
}

/** One, or all of a user. */
export async function deleteConversations(
  db: Database | Transaction,
  { userId, id }: { userId: string; id?: string },
): Promise<void> {
  let query = db.deleteFrom('conversations').where('user_id', '=', userId);
  if (id !== undefined) query = query.where('id', '=', id);
  await query.execute();
}

export async function selectConversations(
  db: Database,
  { userId, after, limit }: { userId: string; after: string; limit: number },
): Promise<{ id: string; content: unknown; saved_at: Date }[]> {
  return db
    .selectFrom('conversations')
    .select(['id', 'content', 'saved_at'])
    .where('user_id', '=', userId)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();
}

export async function deleteAllConversations(db: Database): Promise<void> {
  await db.deleteFrom('conversations').execute();
}
