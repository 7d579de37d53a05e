import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { listLoras as listLorasEndpoint } from '@bakehouse/contract/loras';
import { sql } from 'kysely';
import type { Context } from '../../../platform/context.ts';
import type { Database } from '../../../platform/db/database.ts';
import { unknownCursor } from '../../../platform/errors.ts';
import { isReadableAs, isReadableBy, type Way } from '../../assets/access/readable.ts';

/** Models to which access was granted are not searched, because none of them is a LoRA. */
const listed: readonly Way[] = ['own', 'published', 'shared'];

/**
 * Lists image LoRAs that the caller may read, newest first. The cursor is the last id of the previous page.
 */
export async function listLoras(
  { db, caller: { userId } }: Context,
  { search, cursor, limit }: InputOf<typeof listLorasEndpoint>['query'],
): Promise<ResponseOf<typeof listLorasEndpoint>> {
  if (cursor !== undefined && !(await isReadableModel(db, { userId, id: cursor }))) throw unknownCursor();
  const found = await selectLoras(db, { userId, search, after: cursor, limit: limit + 1 });
  const loras = found.slice(0, limit);
  return { loras, next_cursor: found.length > limit ? (loras.at(-1)?.id ?? null) : null };
}

type Wanted = {
  userId: string;
  /** Part of the title; upper and lower case are equal. */
  search: string;
  /** Id of the last entry of the previous page. */
  after: string | undefined;
  limit: number;
};

/** Returns the LoRAs that a user may read, newest first. `owner_username` is null for the user's own. */
export async function selectLoras(
  db: Database,
  { userId, search, after, limit }: Wanted,
): Promise<{ id: string; title: string; owner_username: string | null }[]> {
  const words = `%${search.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`;
  const arm = (way: Way) => sql`(
    select id, title, owner_user_id, created_at from assets
    where ${isReadableAs(way, userId)} and is_lora and deleted_at is null
      and (${search} = '' or search_text like ${words} and strpos(lower(title), lower(${search})) > 0)
      and (${after ?? null}::uuid is null or (created_at, id) < (
        select created_at, id from assets where id = ${after ?? null}::uuid))
    order by created_at desc, id desc
    limit ${limit})`;
  const { rows } = await sql<{ id: string; title: string; owner_username: string | null }>`
    select found.id, title, users.username as owner_username
    from (${sql.join(listed.map(arm), sql` union `)}) found
    left join users on users.id = found.owner_user_id and users.id != ${userId}
    order by found.created_at desc, found.id desc
    limit ${limit}`.execute(db);
  return rows;
}

async function isReadableModel(
  db: Database,
  { userId, id }: { userId: string; id: string },
): Promise<boolean> {
  const row = await db
    .selectFrom('assets')
    .select('id')
    .where('id', '=', id)
    .where('dataset_type', '=', 'MODEL')
    .where(isReadableBy(userId))
    .executeTakeFirst();
  return row !== undefined;
}
