import { sql } from 'kysely';
import type { Database } from '../../../platform/db/database.ts';

export type Weights = { id: string; title: string; paths: string[] };

type Wanted = {
  userId: string;
  /** Part of the title, in any case. */
  search: string;
  /** Those that come after this one. */
  after: string | undefined;
  limit: number;
};

/**
 * A user's models with weights in safetensors, the newest first; of each the names of its safetensors and JSON files, which
 * tell a LoRA from other models.
 */
export async function selectWeights(
  db: Database,
  { userId, search, after, limit }: Wanted,
): Promise<Weights[]> {
  const { rows } = await sql<Weights>`
    select id, title, paths from assets
    cross join lateral (
      select array_agg(path order by path) as paths from asset_files
      where asset_id = assets.id and last_number is null and path ~ '^[^/]+\\.(safetensors|json)$'
    ) files
    where owner_user_id = ${userId} and dataset_type = 'MODEL' and deleted_at is null
      and (${search} = '' or strpos(lower(title), lower(${search})) > 0)
      and (${after ?? null}::uuid is null or (created_at, id) < (
        select created_at, id from assets where id = ${after ?? null}::uuid))
      and array_to_string(paths, '/') like '%.safetensors%'
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
