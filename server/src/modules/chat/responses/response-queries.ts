import { sql } from 'kysely';
import { type Database, type Transaction, toJson } from '../../../platform/db/database.ts';
import { deleteBefore } from '../../../platform/db/retention/delete-before.ts';

type Own = { userId: string; id: string };
export type StoredResponse = {
  input: Record<string, unknown>[];
  response: { id: string; output: Record<string, unknown>[]; [field: string]: unknown };
};

export async function insertResponse(
  tx: Transaction,
  { userId, input, response, now }: StoredResponse & { userId: string; now: Date },
): Promise<void> {
  await tx
    .insertInto('responses')
    .values({
      ...{ id: response.id, user_id: userId, created_at: now },
      ...{ input: toJson(input), response: toJson(response) },
      size_bytes: Buffer.byteLength(JSON.stringify([input, response])),
    })
    .execute();
}

export async function selectResponse(db: Database, { userId, id }: Own): Promise<StoredResponse | undefined> {
  const row = await db
    .selectFrom('responses')
    .select(['input', 'response'])
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row as StoredResponse | undefined;
}

/** Returns the items with these ids in these responses of a user. */
export async function selectItems(
  db: Database,
  { userId, ids, responseIds }: { userId: string; ids: string[]; responseIds: string[] },
): Promise<Map<string, Record<string, unknown>>> {
  const { rows } = await sql<{ item: { id: string } }>`
    select item from responses, jsonb_array_elements(response -> 'output') as item
    where responses.id = any(${responseIds}) and user_id = ${userId} and item ->> 'id' = any(${ids})`.execute(
    db,
  );
  return new Map(rows.map(({ item }) => [item.id, item]));
}

/** Returns true if a response was deleted. */
export async function deleteOne(db: Database, { userId, id }: Own): Promise<boolean> {
  const row = await db
    .deleteFrom('responses')
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Deletes a user's oldest responses beyond `keep` responses or `bytes` bytes, but never the newest. */
export async function deleteOldest(
  tx: Transaction,
  { userId, keep, bytes }: { userId: string; keep: number; bytes: number },
): Promise<void> {
  await sql`
    delete from responses using (
      select id, row_number() over newest as place, sum(size_bytes) over newest as bytes
      from responses where user_id = ${userId}
      window newest as (order by created_at desc, id)
    ) as ranked
    where responses.id = ranked.id and ranked.place > 1
      and (ranked.place > ${keep} or ranked.bytes > ${bytes})`.execute(tx);
}

export async function deleteResponsesOf(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('responses').where('user_id', '=', userId).execute();
}

export async function deleteResponsesBefore(db: Database, time: Date): Promise<void> {
  await deleteBefore(db, 'responses', { column: 'created_at', time });
}

export async function selectResponses(
  db: Database,
  { userId, after, limit }: { userId: string; after: string; limit: number },
): Promise<(StoredResponse & { id: string })[]> {
  const rows = await db
    .selectFrom('responses')
    .select(['id', 'input', 'response'])
    .where('user_id', '=', userId)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows as (StoredResponse & { id: string })[];
}
