import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { getRunSamples as getRunSamplesEndpoint, PicturesRun } from '@bakehouse/contract/runs';
import type { Context } from '../../../platform/context.ts';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { findTitles } from '../../assets/assets.ts';
import { linkBlob } from '../../assets/files/links/file-links.ts';
import { findOwnRun } from '../runs/runs.ts';
import { deleteCheckpoints, selectCheckpoints } from './checkpoint-queries.ts';
import { isResult } from './checkpoints.ts';
import { deleteSamples, type Sample, selectSamples } from './sample-queries.ts';

/** Step: deletes the samples of a user's runs and the LoRAs of their checkpoints. */
export async function deleteUserSamples(tx: Transaction, userId: string): Promise<void> {
  await deleteSamples(tx, userId);
  await deleteCheckpoints(tx, userId);
}

/** Returns the samples of a caller's run by checkpoint. A text run has no samples. */
export async function getRunSamples(
  ctx: Context,
  { params }: InputOf<typeof getRunSamplesEndpoint>,
): Promise<ResponseOf<typeof getRunSamplesEndpoint>> {
  const { userId: user } = ctx.caller;
  const found = await findOwnRun(ctx.db, { runId: params.runId, userId: user });
  const { prompts, checkpoints } = await readSamples(ctx.db, found);
  const link = async ({ step, number, sha256, width, height }: Sample) => {
    const path = `step-${step}-${number + 1}.png`;
    const { url } = await linkBlob(ctx, { user, sha256, path, disposition: 'inline' });
    return { url, width, height };
  };
  return {
    prompts,
    checkpoints: await Promise.all(
      checkpoints.map(async ({ step, pictures, isKept, modelId }) => ({
        step,
        pictures: await Promise.all(pictures.map(link)),
        is_kept: isKept,
        model_id: modelId,
      })),
    ),
  };
}

type Checkpoint = {
  step: number;
  /** Samples in the order of the prompts. */
  pictures: Sample[];
  isKept: boolean;
  /** The model made from the checkpoint's LoRA; null if there is none. */
  modelId: string | null;
};

/** Returns a run's samples by checkpoint step; a text run has none. */
async function readSamples(
  db: Database,
  { run, workload }: Awaited<ReturnType<typeof findOwnRun>>,
): Promise<{ prompts: PicturesRun['parameters']['sample_prompts']; checkpoints: Checkpoint[] }> {
  const kept = new Map((await selectCheckpoints(db, run.id)).map((one) => [one.step, one]));
  const result = (await findTitles(db, [run.modelAssetId])).size > 0 ? run.modelAssetId : null;
  const drawn = Map.groupBy(await selectSamples(db, run.id), ({ step }) => step);
  return {
    prompts: run.kind === 'pictures' ? run.parameters.sample_prompts : [],
    checkpoints: [...drawn].map(([step, pictures]) => {
      const lora = kept.get(step);
      const isKept = typeof lora?.sha256 === 'string';
      const modelId = (isResult(workload, step) ? result : null) ?? lora?.modelAssetId ?? null;
      return { step, pictures, isKept, modelId };
    }),
  };
}
