import { Readable } from 'node:stream';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { NAME_LENGTH_MAX } from '@bakehouse/contract/limits';
import type { makeCheckpointModel as endpoint } from '@bakehouse/contract/runs';
import type { TrainFluxSpec } from '@bakehouse/contract/runtime/train-image-spec';
import { findWorkloadWithSpec } from '../../../engine/workloads.ts';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError, conflict, notFoundError } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import type { Blob } from '../../../platform/storage/blob-store.ts';
import { storeBlob } from '../../../platform/storage/store-blob.ts';
import { findReadableAsset } from '../../assets/access/find-readable-asset.ts';
import { findTitles } from '../../assets/assets.ts';
import { enqueueCard } from '../../assets/card/card-data.ts';
import { assertBlobsFitQuota, readQuota } from '../../assets/files/storage-quota.ts';
import { insertAsset } from '../../assets/insert-asset.ts';
import { recordLineage } from '../../assets/lineage.ts';
import { createRevisionFromBlobs } from '../../assets/revisions/add-revision.ts';
import type { RunRow } from '../queries.ts';
import { findOwnRun } from '../runs/runs.ts';
import { lockCheckpoint, saveCheckpointModel } from './checkpoint-queries.ts';
import { checkpointCard, isResult } from './checkpoints.ts';
import { selectSamples } from './sample-queries.ts';

const WEIGHTS = 'pytorch_lora_weights.safetensors';

/**
 * Creates a model from a checkpoint of a caller's run, whatever the state of the run. The last checkpoint of
 * a completed run is the run's own model. Repeated calls return the same model until it is deleted. Throws
 * AppError 'not_found' if the run has no such checkpoint, 'conflict' if its LoRA was deleted, and
 * 'payload_too_large' beyond the user's quota.
 */
export async function makeCheckpointModel(
  ctx: Context,
  { params: { runId, step } }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const { userId } = ctx.caller;
  const { run, workload } = await findOwnRun(ctx.db, { runId, userId });
  if (isResult(workload, step) && (await findTitles(ctx.db, [run.modelAssetId])).size > 0)
    return { model_id: run.modelAssetId };
  const spec = (await findWorkloadWithSpec(ctx.db, runId))?.spec as TrainFluxSpec;
  const end = `, step ${step}`;
  const title = run.title.slice(0, NAME_LENGTH_MAX - end.length) + end;
  const quota = await readQuota(ctx, userId);
  const card = await storeBlob(ctx, Readable.from([checkpointCard({ ...spec, title, step })]));
  return inTransaction(ctx.db, async (tx) => {
    const found = await lockCheckpoint(tx, { runId, step });
    if (!found) throw notFoundError(`The run has no checkpoint of step ${step}`);
    if (found.modelAssetId !== null) return { model_id: found.modelAssetId };
    if (found.sha256 === null) {
      const publicMessage = `The LoRA of step ${step} is no longer stored. The LoRAs of the last 20 checkpoints are stored for a week after the run`;
      throw conflict(publicMessage);
    }
    const files = [
      { path: WEIGHTS, sha256: found.sha256, sizeBytes: found.sizeBytes },
      { path: 'README.md', ...card },
      ...(await beforeAndAfter(tx, { runId, step })),
    ];
    await assertBlobsFitQuota(tx, { userId, quota, blobs: files, param: 'step' });
    const modelId = await insertModel(tx, run, title);
    await createRevisionFromBlobs(tx, {
      assetId: modelId,
      files,
      message: `Add the checkpoint of step ${step}`,
    });
    await enqueueCard(tx, ctx.jobs, files);
    await saveCheckpointModel(tx, { runId, step, modelAssetId: modelId });
    await publishChange(tx, userId, { topic: 'run', id: runId });
    return { model_id: modelId };
  });
}

/** Returns the sample pictures for the model card. */
async function beforeAndAfter(
  tx: Transaction,
  { runId, step }: { runId: string; step: number },
): Promise<(Blob & { path: string })[]> {
  const samples = await selectSamples(tx, runId);
  return samples
    .filter((sample) => sample.step === 0 || sample.step === step)
    .map(({ step: at, number, sha256, sizeBytes }) => ({
      path: `samples/${at === 0 ? 'before' : 'after'}/${number + 1}.png`,
      ...{ sha256, sizeBytes },
    }));
}

/** Inserts a model with the same properties as the run's own model. */
async function insertModel(tx: Transaction, run: RunRow, title: string): Promise<string> {
  const { id: runId, userId, base, dataset } = run;
  const found = await findBase(tx, { assetId: base.assetId, userId });
  const assetId = await insertAsset(tx, {
    ...{ ownerUserId: userId, datasetType: 'MODEL', title },
    ...{ category: '', details: '', tags: [] },
    baseModelType: found?.base_model_type ?? null,
    family: found?.family ?? '',
    parentAssetId: found?.id ?? null,
  });
  await recordLineage(tx, { assetId, runId, base, dataset });
  return assetId;
}

/** Returns the base; undefined if it was deleted or is no longer shared with the user. */
async function findBase(tx: Transaction, who: { assetId: string; userId: string }) {
  return findReadableAsset(tx, who).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
    return undefined;
  });
}
