import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { getRunSamples as endpoint } from '@bakehouse/contract/runs';
import type { Context } from '../../../platform/context.ts';
import { linkBlob } from '../../assets/files/links/link-blob.ts';
import { findTitles } from '../../assets/find-titles.ts';
import { findOwnRun } from '../runs/find-own-run.ts';
import { selectCheckpoints } from './checkpoint-queries.ts';
import { isResult } from './is-result.ts';
import { selectSamples } from './sample-queries.ts';

type Samples = ResponseOf<typeof endpoint>;

/** What the checkpoints of a run of the caller have drawn. A run on text has drawn nothing. */
export async function getRunSamples(ctx: Context, { params }: InputOf<typeof endpoint>): Promise<Samples> {
  const { userId: user } = ctx.caller;
  const { run, workload } = await findOwnRun(ctx.db, { runId: params.runId, userId: user });
  const kept = new Map((await selectCheckpoints(ctx.db, run.id)).map((one) => [one.step, one]));
  const result = (await findTitles(ctx.db, [run.modelAssetId])).size > 0 ? run.modelAssetId : null;
  const checkpoints = new Map<number, Samples['checkpoints'][number]>();
  for (const { step, number, sha256, width, height } of await selectSamples(ctx.db, run.id)) {
    const path = `step-${step}-${number + 1}.png`;
    const { url } = await linkBlob(ctx, { user, sha256, path, disposition: 'inline' });
    const lora = kept.get(step);
    const checkpoint = checkpoints.get(step) ?? {
      ...{ step, pictures: [] },
      is_kept: typeof lora?.sha256 === 'string',
      model_id: (isResult(workload, step) ? result : null) ?? lora?.modelAssetId ?? null,
    };
    checkpoint.pictures.push({ url, width, height });
    checkpoints.set(step, checkpoint);
  }
  return {
    prompts: run.kind === 'pictures' ? run.parameters.sample_prompts : [],
    checkpoints: [...checkpoints.values()],
  };
}
