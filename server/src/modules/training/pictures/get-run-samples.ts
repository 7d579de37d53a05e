import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { getRunSamples as endpoint } from '@bakehouse/contract/runs';
import type { Context } from '../../../platform/context.ts';
import { linkBlob } from '../../assets/files/links/link-blob.ts';
import { findOwnRun } from '../runs/find-own-run.ts';
import { selectSamples } from './sample-queries.ts';

type Samples = ResponseOf<typeof endpoint>;

/** What the checkpoints of a run of the caller have drawn. A run on text has drawn nothing. */
export async function getRunSamples(ctx: Context, { params }: InputOf<typeof endpoint>): Promise<Samples> {
  const { userId: user } = ctx.caller;
  const { run } = await findOwnRun(ctx.db, { runId: params.runId, userId: user });
  const checkpoints = new Map<number, Samples['checkpoints'][number]>();
  for (const { step, number, sha256, width, height } of await selectSamples(ctx.db, run.id)) {
    const path = `step-${step}-${number + 1}.png`;
    const { url } = await linkBlob(ctx, { user, sha256, path, disposition: 'inline' });
    const checkpoint = checkpoints.get(step) ?? { step, pictures: [] };
    checkpoint.pictures.push({ url, width, height });
    checkpoints.set(step, checkpoint);
  }
  return {
    prompts: run.kind === 'pictures' ? run.parameters.sample_prompts : [],
    checkpoints: [...checkpoints.values()],
  };
}
