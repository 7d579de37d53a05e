import { sql } from 'kysely';
import type { Database } from '../../../platform/db/database.ts';

type Wanted = {
  userId: string;
  /** Part of the title, in any case. */
  search: string;
  /** Those that come after this one. */
  after: string | undefined;
  limit: number;
};

/** A user's models that are LoRAs, the newest first. */
export async function selectLoras(
  db: Database,
  { userId, search, after, limit }: Wanted,
): Promise<{ id: string; title: string }[]> {
  const { rows } = await sql<{ id: string; title: string }>`
    select id, title from assets
    where owner_user_id = ${userId} and is_lora and deleted_at is null
      and (${search} = '' or strpos(lower(title), lower(${search})) > 0)
      and (${after ?? null}::uuid is null or (created_at, id) < (
        select created_at, id from assets where id = ${after ?? null}::uuid))
    order by created_at desc, id desc
    limit ${limit}`.execute(db);
  return rows;
}

export async function isOwnModel(
  db: Database,
  { userId, id }: { userId: string; id: string },
): Promise<boolean> {
  const row = await db
    .selectFrom('assets')
    .select('id')
    .where('id', '=', id)
    .where('owner_user_id', '=', userId)
    .where('dataset_type', '=', 'MODEL')
    .executeTakeFirst();
  return row !== undefined;
}
