import type { Conversation } from '@bakehouse/contract/conversations';
import { sql } from 'kysely';
import { type Database, type Transaction, toJson } from '../../../platform/db/database.ts';

type WithModel = { userId: string; model: string };
type Own = WithModel & { id: string };
export type SavedConversation = { version: number; saveId: string; content: Conversation };

/** Returns the conversation with this id, or else the most recently saved one. */
export async function selectConversationOrNewest(
  db: Database,
  { userId, model, id }: WithModel & { id: string | null },
): Promise<(SavedConversation & { id: string }) | undefined> {
  const row = await db
    .selectFrom('conversations')
    .select(['id', 'version', 'save_id', 'content'])
    .where('user_id', '=', userId)
    .where('model', '=', model)
    .orderBy(sql`id is not distinct from ${id}::uuid`, 'desc')
    .orderBy('saved_at', 'desc')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return row && { ...row, saveId: row.save_id, content: row.content as Conversation };
}

/** Returns conversations with at least one question, with one model or all, most recently saved first. */
export async function selectConversations(
  db: Database,
  { userId, model }: { userId: string; model: string | undefined },
): Promise<{ id: string; model: string; title: string; saved_at: Date }[]> {
  return db
    .selectFrom('conversations')
    .select(['id', 'model', 'title', 'saved_at'])
    .where('user_id', '=', userId)
    .$if(model !== undefined, (query) => query.where('model', '=', model ?? ''))
    .where('title', '<>', '')
    .orderBy('saved_at', 'desc')
    .orderBy('id')
    .orderBy('model')
    .execute();
}

/** Returns false if the saved version differs; version 0 means that none is saved. */
export async function saveAtVersion(
  tx: Transaction,
  { userId, model, id, version, saveId, content, now }: Own & SavedConversation & { now: Date },
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
      .where('model', '=', model)
      .where('id', '=', id)
      .where('version', '=', version)
      .returning('id')
      .executeTakeFirst();
    return row !== undefined;
  }
  const row = await tx
    .insertInto('conversations')
    .values({ user_id: userId, model, id, ...columns })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Deletes the oldest conversations beyond `keep` conversations or `bytes` bytes, but never the newest. */
export async function deleteOldest(
  tx: Transaction,
  { userId, keep, bytes }: { userId: string; keep: number; bytes: number },
): Promise<void> {
  await sql`
    delete from conversations using (
      select model, id, row_number() over newest as place, sum(size_bytes) over newest as bytes
      from conversations where user_id = ${userId}
      window newest as (order by saved_at desc, model, id)
    ) as ranked
    where conversations.user_id = ${userId} and conversations.model = ranked.model
      and conversations.id = ranked.id and ranked.place > 1 and (ranked.place > ${keep} or ranked.bytes > ${bytes})`.execute(
    tx,
  );
}

export async function deleteConversation(db: Transaction, { userId, model, id }: Own): Promise<void> {
  await db
    .deleteFrom('conversations')
    .where('user_id', '=', userId)
    .where('model', '=', model)
    .where('id', '=', id)
    .execute();
}

export async function deleteConversationsOf(db: Transaction, userId: string): Promise<void> {
  await db.deleteFrom('conversations').where('user_id', '=', userId).execute();
}

/** Returns whole conversations of a user by model and id, after the position `after`. */
export async function selectWholeConversations(
  db: Database,
  { userId, after, limit }: { userId: string; after: { model: string; id: string } | null; limit: number },
): Promise<{ model: string; id: string; content: unknown; saved_at: Date }[]> {
  return db
    .selectFrom('conversations')
    .select(['model', 'id', 'content', 'saved_at'])
    .where('user_id', '=', userId)
    .$if(after !== null, (query) =>
      query.where(sql<boolean>`(model, id) > (${after?.model}, ${after?.id}::uuid)`),
    )
    .orderBy('model')
    .orderBy('id')
    .limit(limit)
    .execute();
}

export async function deleteAllConversations(db: Database): Promise<void> {
  await db.deleteFrom('conversations').execute();
}
