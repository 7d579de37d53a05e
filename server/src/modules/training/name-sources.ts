import type { TrainingSources } from '@bakehouse/contract/runtime/train-spec';
import type { Context } from '../../platform/context.ts';
import type { AssetRevision } from '../assets/read-revision.ts';
import { nameRevision } from '../assets/revisions/name-revision.ts';

/** Returns the hub names of a run's base model and dataset, and the licence in the base's card. */
export async function nameSources(
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
