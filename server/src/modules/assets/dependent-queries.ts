import { sql } from 'kysely';
import type { Transaction } from '../../platform/db/database.ts';
import { isReadableBy } from './access/readable.ts';
import { isWhole } from './queries.ts';

/**
 * Returns the first titles and the number of the owner's models that depend on this one: fine-tunes and
 * adapters without full weights.
 */
export async function listOwnDependents(
  tx: Transaction,
  { assetId, userId, limit }: { assetId: string; userId: string | null; limit: number },
): Promise<{ titles: string[]; count: number }> {
  const tuned = tx
    .selectFrom('asset_lineage')
    .select('asset_id as id')
    .where('base_asset_id', '=', assetId)
    .where(sql<boolean>`not ${isWhole(sql.ref('asset_lineage.asset_id'))}`);
  const uploaded = tx
    .selectFrom('assets as adapters')
    .innerJoin('asset_files', 'asset_files.asset_id', 'adapters.id')
    .select('adapters.id')
    .where('adapters.parent_asset_id', '=', assetId)
    .where('asset_files.path', '=', 'adapter_config.json')
    .where('asset_files.last_number', 'is', null);
  const rows = await tx
    .selectFrom('assets')
    .select(['title', sql<bigint>`count(*) over ()`.as('count')])
    .where('id', 'in', tuned.union(uploaded))
    .where(sql<boolean>`owner_user_id = ${userId}::text`)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .limit(limit)
    .execute();
  return { titles: rows.map((row) => row.title), count: Number(rows[0]?.count ?? 0n) };
}

/**
 * Counts other users' fine-tunes of this model whose owners may still read it: only those can be deployed.
 * Uploaded adapters of other users do not count.
 */
export async function countForeignDependents(
  tx: Transaction,
  { assetId, userId }: { assetId: string; userId: string | null },
): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) from asset_lineage lineage
    join assets tuned on tuned.id = lineage.asset_id and tuned.deleted_at is null
    where lineage.base_asset_id = ${assetId} and not ${isWhole(sql.ref('tuned.id'))} and tuned.owner_user_id is distinct from ${userId}::text
      and exists (select from assets where assets.id = ${assetId} and ${isReadableBy(sql.ref('tuned.owner_user_id'))})`.execute(
    tx,
  );
  return Number(rows[0]?.count ?? 0n);
}
