import type { PicturesRun } from '@bakehouse/contract/runs';
import type { Database } from '../../../platform/db/database.ts';
import { findTitles } from '../../assets/find-titles.ts';
import type { findOwnRun } from '../runs/find-own-run.ts';
import { selectCheckpoints } from './checkpoint-queries.ts';
import { isResult } from './is-result.ts';
import { type Sample, selectSamples } from './sample-queries.ts';

type Checkpoint = {
  step: number;
  /** In the order of the prompts. */
  pictures: Sample[];
  isKept: boolean;
  /** The model made from its LoRA; null if there is none. */
  modelId: string | null;
};

/** Returns a run's samples by checkpoint step; a text run has none. */
export async function readSamples(
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
