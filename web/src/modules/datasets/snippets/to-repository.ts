import type { Asset } from '@bakehouse/contract/assets';
import type { HubRepository } from '../../../lib/api/examples/hub-examples.ts';
import { isDataFile } from '../files/data-file.ts';

/** Returns the repository as its clients load it. */
export function toRepository(asset: Asset): HubRepository {
  const paths = asset.files.map(({ path }) => path);
  const named = asset.card_metadata?.base_models[0];
  const base = asset.lineage?.base_model;
  return {
    type: asset.dataset_type === 'MODEL' ? 'model' : 'dataset',
    id: asset.repo_id,
    paths,
    // The `datasets` library does not read Markdown.
    dataPaths: paths.filter((path) => isDataFile(path) && !path.toLowerCase().endsWith('.md')),
    pipeline: asset.pipeline,
    // A base model without a hub name is addressed by its id.
    base: named ?? (base ? `id/${base.dataset_id}` : null),
  };
}
