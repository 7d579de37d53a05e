import { sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { type CloneRow, toRow } from '../clone/clones-table.ts';
import type { Repo } from '../public/hub-client.ts';

/** The newest clone of a repository for everybody, however it went; its name is the same in any case. */
export async function findLastMirroring(
  db: Database | Transaction,
  { type, id }: Repo,
): Promise<CloneRow | undefined> {
  const row = await db
    .selectFrom('hub_clones')
    .selectAll()
    .where('user_id', 'is', null)
    .where(sql<boolean>`lower(repo_id) = lower(${id})`)
    .where('dataset_type', '=', type === 'model' ? 'MODEL' : 'RAW')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && toRow(row);
}

/** Bytes that were copied for everybody, or are about to be. */
export async function sumMirrored(db: Database): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select (
      (
        select coalesce(sum(size_bytes), 0) from (
          select distinct f.sha256, f.size_bytes from asset_files f
          join assets a on a.id = f.asset_id where a.namespace is not null and a.deleted_at is null
        ) as kept
      ) + (
        select coalesce(sum(bytes_total), 0) from hub_clones where user_id is null and ended_at is null
      )
    )::float8 as bytes`.execute(db);
  return rows[0]?.bytes ?? 0;
}
