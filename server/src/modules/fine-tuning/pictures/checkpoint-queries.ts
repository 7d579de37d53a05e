import { sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';

/** Maximum stored checkpoints of a run. The LoRA of a full-size model has hundreds of megabytes. */
const KEPT_MAX = 20;

export type Checkpoint = {
  step: number;
  /** Hash of the LoRA; null if it was deleted. */
  sha256: string | null;
  sizeBytes: number;
  /** The model made from the checkpoint; null if there is none, or it was deleted. */
  modelAssetId: string | null;
};

/**
 * Stores the LoRA of a checkpoint, which is an artefact of the workload. Deletes the oldest LoRAs above the
 * limit.
 */
export async function saveCheckpoint(
  tx: Transaction,
  { runId, userId, step, path }: { runId: string; userId: string; step: number; path: string },
): Promise<void> {
  // A repeated step has the same bytes after a restart, unless it ran on another machine. Then a model made
  // from it has other weights, and is no longer linked to the checkpoint.
  await sql`
    insert into run_checkpoints (run_id, step, user_id, sha256, size_bytes)
    select workload_id, ${step}::int, ${userId}, sha256, size_bytes from workload_artefacts
    where workload_id = ${runId}::uuid and path = ${path}
    on conflict (run_id, step) do update set
      sha256 = excluded.sha256,
      size_bytes = excluded.size_bytes,
      model_asset_id = case when run_checkpoints.sha256 = excluded.sha256 then run_checkpoints.model_asset_id end`.execute(
    tx,
  );
  await sql`
    update run_checkpoints set sha256 = null
    where run_id = ${runId}::uuid and sha256 is not null and step not in (
      select step from run_checkpoints where run_id = ${runId}::uuid order by step desc limit ${KEPT_MAX}
    )`.execute(tx);
}

const columns = (db: Database | Transaction) =>
  db
    .selectFrom('run_checkpoints')
    .leftJoin('assets', (join) =>
      join.onRef('assets.id', '=', 'run_checkpoints.model_asset_id').on('assets.deleted_at', 'is', null),
    )
    .select([
      'run_checkpoints.step',
      'run_checkpoints.sha256',
      'run_checkpoints.size_bytes',
      'assets.id as model_id',
    ]);

type Row = { step: number; sha256: string | null; size_bytes: bigint; model_id: string | null };

const toCheckpoint = ({ step, sha256, size_bytes, model_id }: Row): Checkpoint => ({
  ...{ step, sha256 },
  sizeBytes: Number(size_bytes),
  modelAssetId: model_id,
});

/** Returns the checkpoints of a run. */
export async function selectCheckpoints(db: Database, runId: string): Promise<Checkpoint[]> {
  return (await columns(db).where('run_id', '=', runId).execute()).map(toCheckpoint);
}

/**
 * Locks and returns a checkpoint until the transaction ends. Undefined if the run has no checkpoint at this
 * step.
 */
export async function lockCheckpoint(
  tx: Transaction,
  { runId, step }: { runId: string; step: number },
): Promise<Checkpoint | undefined> {
  await tx
    .selectFrom('run_checkpoints')
    .select('step')
    .where('run_id', '=', runId)
    .where('step', '=', step)
    .forUpdate()
    .execute();
  // Read the row again: another transaction may have created the model before this one got the lock.
  const row = await columns(tx).where('run_id', '=', runId).where('step', '=', step).executeTakeFirst();
  return row && toCheckpoint(row);
}

export async function saveCheckpointModel(
  tx: Transaction,
  { runId, step, modelAssetId }: { runId: string; step: number; modelAssetId: string },
): Promise<void> {
  await tx
    .updateTable('run_checkpoints')
    .set({ model_asset_id: modelAssetId })
    .where('run_id', '=', runId)
    .where('step', '=', step)
    .execute();
}

/** Deletes the LoRAs of runs that ended before the given time. */
export async function deleteOldCheckpoints(db: Database, endedBefore: Date): Promise<void> {
  await sql`
    update run_checkpoints set sha256 = null
    from workloads
    where workloads.id = run_id and sha256 is not null and ended_at < ${endedBefore}`.execute(db);
}

export async function deleteCheckpoints(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('run_checkpoints').where('user_id', '=', userId).execute();
}
