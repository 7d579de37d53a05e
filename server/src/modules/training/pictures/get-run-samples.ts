import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { getRunSamples as endpoint } from '@bakehouse/contract/runs';
import type { Context } from '../../../platform/context.ts';
import { linkBlob } from '../../assets/files/links/link-blob.ts';
import { findOwnRun } from '../runs/find-own-run.ts';
import { readSamples } from './read-samples.ts';
import type { Sample } from './sample-queries.ts';

/** Returns the samples of a caller's run by checkpoint; a text run has none. */
export async function getRunSamples(
  ctx: Context,
  { params }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
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
