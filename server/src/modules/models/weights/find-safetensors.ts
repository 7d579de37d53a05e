import * as z from 'zod';
import type { Services } from '../../../platform/context.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import { findMissingParts } from './find-missing-parts.ts';
import { listModelFiles } from './list-model-files.ts';
import { nameMissing } from './name-missing.ts';
import { readModelJson } from './read-model-json.ts';

/** Maps each tensor to its file if the weights are sharded. */
const INDEX = 'model.safetensors.index.json';

const index = z.object({ weight_map: z.record(z.string(), z.string()) });

/**
 * Returns the weights in Transformers' format, in one file or many. Empty and without a fault if there are
 * none. `fault` is a sentence without a full stop.
 */
export async function findSafetensors(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  { asset, files }: Pick<AssetRevision, 'asset' | 'files'>,
): Promise<{ files: AssetRevision['files']; fault: string | null }> {
  const found = listModelFiles(files).filter(({ path }) => path.endsWith('.safetensors'));
  if (found.length === 0) return { files: [], fault: null };
  const paths = found.map(({ path }) => path);
  const { data } = index.safeParse(await readModelJson(services, files, INDEX));
  // Files outside the index are not loaded, e.g. the same weights in another layout.
  const named = new Set(data ? Object.values(data.weight_map) : []);
  const missing = named.size > 0 ? [...named.difference(new Set(paths))] : findMissingParts(paths);
  return {
    files: named.size > 0 ? found.filter(({ path }) => named.has(path)) : found,
    fault: nameMissing(asset.title, missing.toSorted()),
  };
}
