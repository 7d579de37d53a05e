import { imageDeploymentKinds } from '@bakehouse/contract/deployments/images';
import { isServedAs } from '@bakehouse/contract/deployments/pipelines';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { requireRevision } from '../../assets/access/require-revision.ts';
import { readRevision } from '../../assets/read-revision.ts';
import { readPipelineIndex } from '../../assets/recognise/read-pipeline-index.ts';
import type { PlacedModel, ReadCapacity } from '../served-model.ts';
import { families } from './describe-pipeline.ts';
import { hashFiles } from './hash-files.ts';

/**
 * Returns an image model's placement and files. A starter model is small, so it stays on the CPU and leaves
 * the GPUs to hourly deployments. Throws AppError 'not_found', or 'conflict' for another model.
 */
export async function placeImageModel(
  ctx: Context,
  _parts: ReadCapacity,
  assetId: string,
): Promise<PlacedModel> {
  const wanted = { assetId, userId: ctx.caller.userId };
  const { asset } = await requireRevision(ctx.db, wanted);
  if (asset.starterTask !== 'image') throw notAnImageModel(asset);
  // Read only now: a starter model has few files, a user's model may have any number.
  const { revision, files } = await readRevision(ctx.db, wanted);
  const index = await readPipelineIndex(ctx, files);
  const kind = imageDeploymentKinds.find((one) => isServedAs(one, index?._class_name ?? null));
  if (!kind) throw notAnImageModel(asset);
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
      base: { engine: families[kind].engine, files: loaded, filesSha256: hashFiles(loaded) },
      adapter: null,
      isForeign: false,
    },
    placement: { accelerator: null, count: 0 },
    context: null,
  };
}

function notAnImageModel({ title }: { title: string }): AppError {
  return new AppError('conflict', { publicMessage: `${title} is not an image model` });
}
