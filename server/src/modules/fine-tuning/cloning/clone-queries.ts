import { sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';

export type EndedClone = { runId: string; repoId: string; assetId: string | null; reason: string };

/**
 * Returns a run that waits for its base model's clone, if the clone has ended, with or without success. Null
 * if there is none.
 */
export async function findRunOfEndedClone(db: Database): Promise<EndedClone | null> {
  const { rows } = await sql<EndedClone>`
    select runs.id as "runId", clone.repo_id as "repoId", clone.asset_id as "assetId", clone.reason
    from workloads
    join runs on runs.id = workloads.id and runs.base_revision_id = runs.base_asset_id
    join hub_clones clone on clone.id = runs.base_asset_id and clone.ended_at is not null
    where workloads.ended_at is null and workloads.wanted = 'running' limit 1`.execute(db);
  return rows[0] ?? null;
}

/** True if the clone was started for a run, and no run waits for it any more. */
export async function isAbandonedClone(db: Database, cloneId: string): Promise<boolean> {
  const { rows } = await sql<{ unneeded: boolean }>`
    select exists (
        select from runs join hub_clones clone on clone.id = ${cloneId}
        where runs.base_asset_id = clone.id and runs.created_at = clone.created_at
      ) and not exists (
        select from runs join workloads on workloads.id = runs.id
        where runs.base_asset_id = ${cloneId} and workloads.ended_at is null and workloads.wanted = 'running'
      ) as unneeded`.execute(db);
  return rows[0]?.unneeded ?? false;
}

/** Stores the cloned base in the run's row and in the model's. */
export async function saveClonedBase(
  tx: Transaction,
  {
    runId,
    modelAssetId,
    base: { asset, revision },
  }: {
    runId: string;
    modelAssetId: string;
    base: {
      asset: { id: string; title: string; family: string; baseModelType: string | null };
      revision: { id: string };
    };
  },
): Promise<void> {
  await tx
    .updateTable('runs')
    .set({ base_revision_id: revision.id, base_title: asset.title })
    .where('id', '=', runId)
    .execute();
  await tx
    .updateTable('assets')
    .set({ parent_asset_id: asset.id, family: asset.family, base_model_type: asset.baseModelType })
    .where('id', '=', modelAssetId)
    .execute();
}
