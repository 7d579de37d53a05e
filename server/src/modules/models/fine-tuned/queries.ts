import type { Database, Transaction } from '../../../platform/db/database.ts';

type Db = Database | Transaction;

/** A model produced by a run keeps its first name. */
export async function insertName(
  tx: Transaction,
  { assetId, name }: { assetId: string; name: string },
): Promise<void> {
  await tx
    .insertInto('fine_tuned_models')
    .values({ asset_id: assetId, name })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Returns a user's fine-tunes, oldest first: the one with this name, those with these ids, or all. */
export async function selectFineTunes(
  db: Db,
  { userId, name, assetIds }: { userId: string; name?: string; assetIds?: string[] },
) {
  return db
    .selectFrom('fine_tuned_models as tuned')
    .innerJoin('assets', 'assets.id', 'tuned.asset_id')
    .leftJoin('asset_lineage as lineage', 'lineage.asset_id', 'tuned.asset_id')
    .select(['tuned.asset_id as assetId', 'tuned.name', 'tuned.created_at as createdAt'])
    .select('lineage.base_title as baseTitle')
    .where('assets.owner_user_id', '=', userId)
    .where('assets.deleted_at', 'is', null)
    .where('assets.revision_id', 'is not', null)
    .$if(name !== undefined, (query) => query.where('tuned.name', '=', name ?? ''))
    .$if(assetIds !== undefined, (query) => query.where('tuned.asset_id', 'in', assetIds ?? []))
    .orderBy('tuned.created_at')
    .orderBy('tuned.asset_id')
    .execute();
}
