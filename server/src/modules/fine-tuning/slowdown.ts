import { SLOWDOWN_MAX } from '@bakehouse/contract/fine-tuning';
import type { TrainingSources } from '@bakehouse/contract/runtime/train-spec';
import type { CpuLoad } from '../../engine/model/offer.ts';
import type { Context } from '../../platform/context.ts';
import type { AssetRevision } from '../assets/read-revision.ts';
import { nameRevision } from '../assets/revisions/name-revision.ts';

/** Time constant of the system's load average. */
const MEAN_S = 60;

/**
 * Returns how many times longer a run that starts now takes than on an idle machine. Running runs count only
 * if a slot is free next to them; otherwise the run waits for them.
 */
export function expectedSlowdown(load: CpuLoad, runs: { atWork: number; slots: number }): number {
  const others = Math.max(0, load.busyThreads - runs.atWork * load.runThreads);
  const beside = Math.max(0, Math.min(runs.atWork, runs.slots - 1)) * load.runThreads;
  return slowdown(load, others + beside);
}

/**
 * Returns the slowdown of a run that ends now after this many seconds; excludes its own threads from the
 * load.
 */
export function measuredSlowdown(load: CpuLoad, seconds: number): number {
  const own = load.runThreads * (1 - Math.exp(-seconds / MEAN_S));
  return slowdown(load, Math.max(0, load.busyThreads - own));
}

/** Assumes that CPU time is shared equally among runnable threads. */
function slowdown({ cores, runThreads }: CpuLoad, otherThreads: number): number {
  return Math.min(SLOWDOWN_MAX, Math.max(1, (runThreads + otherThreads) / cores));
}

/** Returns the hub names of a run's base model and dataset, and the licence in the base's card. */
export async function readSourceNames(
  ctx: Context,
  { base, dataset }: { base: AssetRevision; dataset: AssetRevision },
): Promise<TrainingSources> {
  const [model, data] = await Promise.all([nameRevision(ctx, base), nameRevision(ctx, dataset)]);
  const said = (key: string) => {
    const value = model.card?.[key];
    return typeof value === 'string' && value.length <= 500 ? value : null;
  };
  return {
    base_model: model.repository,
    base_model_commit: model.commitId,
    dataset: data.repository,
    dataset_commit: data.commitId,
    license: said('license'),
    license_name: said('license_name'),
    license_link: said('license_link'),
  };
}
