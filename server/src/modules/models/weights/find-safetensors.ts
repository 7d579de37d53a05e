import * as z from 'zod';
import type { Services } from '../../../platform/context.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import { findMissingParts } from './find-missing-parts.ts';
import { listModelFiles } from './list-model-files.ts';
import { nameMissing } from './name-missing.ts';
import { readModelJson } from './read-model-json.ts';

/** Names the file of each tensor where the weights lie in several. */
const INDEX = 'model.safetensors.index.json';

const index = z.object({ weight_map: z.record(z.string(), z.string()) });

/**
 * The weights of a model in Transformers' format, in one file or many. None, and no fault, where it has none.
 * `fault` is a sentence without its full stop.
 */
export async function findSafetensors(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  { asset, files }: Pick<AssetRevision, 'asset' | 'files'>,
): Promise<{ files: AssetRevision['files']; fault: string | null }> {
  const found = listModelFiles(files).filter(({ path }) => path.endsWith('.safetensors'));
  if (found.length === 0) return { files: [], fault: null };
  const paths = found.map(({ path }) => path);
  const { data } = index.safeParse(await readModelJson(services, files, INDEX));
  // What the index does not name is not loaded, as the same weights once more in another layout.
  const named = new Set(data ? Object.values(data.weight_map) : []);
  const missing = named.size > 0 ? [...named.difference(new Set(paths))] : findMissingParts(paths);
  return {
    files: named.size > 0 ? found.filter(({ path }) => named.has(path)) : found,
    fault: nameMissing(asset.title, missing.toSorted()),
  };
}
