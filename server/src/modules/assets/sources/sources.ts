import type { Database, Transaction } from '../../../platform/db/database.ts';

/** The repository of a hub, and its commit, that a dataset or model is a copy of. */
export type AssetSource = { hubUrl: string; repoId: string; commitId: string };

/** Step: notes where a new dataset or model was copied from. */
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

/** Null for what was not copied from a hub. */
export async function findSource(db: Database | Transaction, assetId: string): Promise<AssetSource | null> {
  const row = await db
    .selectFrom('asset_sources')
    .select(['hub_url as hubUrl', 'repo_id as repoId', 'commit_id as commitId'])
    .where('asset_id', '=', assetId)
    .executeTakeFirst();
  return row ?? null;
}

/** The id of the newest model or dataset of the user that is a copy of the repository; null where there is none. */
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
