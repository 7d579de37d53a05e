import type { Asset } from '@bakehouse/contract/assets';
import type { HubRepository } from '../../../lib/api/examples/hub-examples.ts';
import { isDataFile } from '../files/data-file.ts';

/** What the clients load of it. Pure. */
export function toRepository(asset: Asset): HubRepository {
  const paths = asset.files.map(({ path }) => path);
  const named = asset.card_metadata?.base_models[0];
  const base = asset.lineage?.base_model;
  return {
    type: asset.dataset_type === 'MODEL' ? 'model' : 'dataset',
    id: asset.repo_id,
    paths,
    // `datasets` reads no Markdown.
    dataPaths: paths.filter((path) => isDataFile(path) && !path.toLowerCase().endsWith('.md')),
    pipeline: asset.pipeline,
    // What has no name on a hub has its id here.
    base: named ?? (base ? `id/${base.dataset_id}` : null),
  };
}
