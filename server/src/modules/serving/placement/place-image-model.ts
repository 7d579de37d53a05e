import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { requireRevision } from '../../assets/access/require-revision.ts';
import { readRevision } from '../../assets/read-revision.ts';
import type { ImageEngine } from '../image-spec.ts';
import type { PlacedModel, ReadCapacity } from '../served-model.ts';
import { hashFiles } from './hash-files.ts';

/**
 * Where an image model is served, and what has to be loaded there. A starter model is small: it stays on the CPU, and
 * leaves the GPUs to what people pay for by the hour. Throws AppError 'not_found', or 'conflict' for another model.
 */
export async function placeImageModel(
  { db, caller }: Context,
  _parts: ReadCapacity,
  assetId: string,
): Promise<PlacedModel> {
  const wanted = { assetId, userId: caller.userId };
  const { asset } = await requireRevision(db, wanted);
  if (asset.starterTask !== 'image') {
    throw new AppError('conflict', { publicMessage: `${asset.title} is not an image model` });
  }
  // A starter model has few files; somebody else's may have any number.
  const { revision, files } = await readRevision(db, wanted);
  const loaded = files
    .filter(({ path }) => path.endsWith('.safetensors') || path.endsWith('.json'))
    .map(({ path, sha256, sizeBytes }) => ({ path, sha256, size_bytes: sizeBytes }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return {
    model: {
      assetId,
      revisionId: revision.id,
      title: asset.title,
      baseAssetId: assetId,
      baseTitle: asset.title,
      base: { engine: engineOf(loaded), files: loaded, filesSha256: hashFiles(loaded) },
      adapter: null,
      isForeign: false,
    },
    placement: { accelerator: null, count: 0 },
    context: null,
  };
}

/** A model in Diffusers' format of FLUX has its transformer in a folder of that name; Paris has experts. */
function engineOf(files: { path: string }[]): ImageEngine {
  return files.some(({ path }) => path.startsWith('transformer/')) ? 'kontext' : 'paris';
}
