import type { Database, Transaction } from '../../../platform/db/database.ts';

/** The hub repository and commit from which a dataset or model was copied. */
export type AssetSource = { hubUrl: string; repoId: string; commitId: string };

/** Step: records the source of a new dataset or model. */
export async function recordSource(tx: Transaction, assetId: string, source: AssetSource): Promise<void> {
  await tx
    .insertInto('asset_sources')
    .values({
      asset_id: assetId,
      hub_url: source.hubUrl,
      repo_id: source.repoId,
      commit_id: source.commitId,
    })
    .execute();
}

/** Returns null for assets that were not copied from a hub. */
export async function findSource(db: Database | Transaction, assetId: string): Promise<AssetSource | null> {
  const row = await db
    .selectFrom('asset_sources')
    .select(['hub_url as hubUrl', 'repo_id as repoId', 'commit_id as commitId'])
    .where('asset_id', '=', assetId)
    .executeTakeFirst();
  return row ?? null;
}

/** Returns the id of the user's newest asset that is a copy of the repository; null if none. */
export async function findClonedAsset(
  db: Database | Transaction,
  { userId, repoId, type }: { userId: string; repoId: string; type: 'model' | 'dataset' },
): Promise<string | null> {
  const row = await db
    .selectFrom('asset_sources')
    .innerJoin('assets', 'assets.id', 'asset_sources.asset_id')
    .select('assets.id')
    .where('asset_sources.repo_id', '=', repoId)
    .where('assets.owner_user_id', '=', userId)
    .where('assets.dataset_type', '=', type === 'model' ? 'MODEL' : 'RAW')
    .where('assets.deleted_at', 'is', null)
    .orderBy('assets.created_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.id ?? null;
}
