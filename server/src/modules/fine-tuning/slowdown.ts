import { SLOWDOWN_MAX } from '@bakehouse/contract/fine-tuning';
import type { TrainingSources } from '@bakehouse/contract/runtime/train-spec';
import type { CpuLoad } from '../../engine/model/offer.ts';
import type { Context } from '../../platform/context.ts';
import type { AssetRevision } from '../assets/read-revision.ts';
import { nameRevision } from '../assets/revisions/name-revision.ts';

/** The system averages its load over this time. */
const MEAN_S = 60;

/**
 * Returns how many times longer a run takes than on an idle machine if it starts now. The load of running
 * runs counts only if a slot is free, because otherwise the run waits until one of them ends.
 */
export function expectedSlowdown(load: CpuLoad, runs: { atWork: number; slots: number }): number {
  const others = Math.max(0, load.busyThreads - runs.atWork * load.runThreads);
  const neighborThreads = Math.max(0, Math.min(runs.atWork, runs.slots - 1)) * load.runThreads;
  return slowdown(load, others + neighborThreads);
}

/**
 * Returns how many times longer a run has taken than on an idle machine. It has just ended after this many
 * seconds, so its own threads are subtracted from the load average.
 */
export function measuredSlowdown(load: CpuLoad, seconds: number): number {
  const own = load.runThreads * (1 - Math.exp(-seconds / MEAN_S));
  return slowdown(load, Math.max(0, load.busyThreads - own));
}

/** Assumes that all runnable threads share the CPU time equally. */
function slowdown({ cores, runThreads }: CpuLoad, otherThreads: number): number {
  return Math.min(SLOWDOWN_MAX, Math.max(1, (runThreads + otherThreads) / cores));
}

/** Returns the hub names of a run's base model and dataset, and the licence in the base's model card. */
export async function readSourceNames(
  ctx: Context,
  { base, dataset }: { base: AssetRevision; dataset: AssetRevision },
): Promise<TrainingSources> {
  const [model, data] = await Promise.all([nameRevision(ctx, base), nameRevision(ctx, dataset)]);
  const cardText = (key: string) => {
    const value = model.card?.[key];
    return typeof value === 'string' && value.length <= 500 ? value : null;
  };
  return {
    base_model: model.repository,
    base_model_commit: model.commitId,
    dataset: data.repository,
    dataset_commit: data.commitId,
    license: cardText('license'),
    license_name: cardText('license_name'),
    license_link: cardText('license_link'),
  };
}
