import { text } from 'node:stream/consumers';
import type { ImageDeploymentKind } from '@bakehouse/contract/deployments/images';
import { isServedAs } from '@bakehouse/contract/deployments/pipelines';
import type { LicenceName } from '@bakehouse/contract/licences';
import * as z from 'zod';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import { findModelByName } from '../../assets/access/find-model-by-name.ts';
import { type AssetRevision, readRevision } from '../../assets/read-revision.ts';
import { PIPELINE_INDEX } from '../../assets/recognise/pipeline-index.ts';
import { type PipelineIndex, readPipelineIndex } from '../../assets/recognise/read-pipeline-index.ts';
import { findStarterModel } from '../../models/starter/find-starter-model.ts';
import type { Place, ServedBase, ServedModel } from '../served-model.ts';
import { chooseImagePlacement } from './choose-image-placement.ts';
import { gpuOfInstance } from './choose-placement.ts';
import { describePipeline, families, isWeights, lackOfGpu } from './describe-pipeline.ts';
import { placeImageModel } from './place-image-model.ts';
import { readCardLicence } from './read-card-licence.ts';

const CARD = 'README.md';
/** Diffusers' file name for LoRA weights trained for a pipeline. */
const ADAPTER = 'pytorch_lora_weights.safetensors';
const TEXT_BYTES_MAX = 512 * 1024;

/**
 * Returns the placement of a kind's pipelines: starters on the CPU, others on a GPU that fits them, or on the
 * CPU if small. `modelId` may be a name on a model hub.
 */
export function placePipelineModel(kind: ImageDeploymentKind): Place {
  return async (ctx, parts, modelId, asked) => {
    const type = gpuOfInstance(asked.instanceType);
    if (!type) return null;
    const { assetId, isStandIn } = await findAsset(ctx, modelId, kind);
    const found = await readRevision(ctx.db, { assetId, userId: ctx.caller.userId });
    const index = await readIndexOfKind(ctx, found, kind);
    if (found.asset.isStarter) {
      const placed = await placeImageModel(ctx, parts, assetId);
      const notice = `You have no model ${modelId}, so the starter model ${found.asset.title} is deployed instead`;
      return { ...placed, ...(isStandIn && { notice }) };
    }
    const family = families[kind];
    const card = await readSmallFile(ctx, found, CARD);
    const base = describePipeline({ title: found.asset.title, files: found.files }, index, family);
    const memory = family.memory(base.files.filter(isWeights));
    const placement = chooseImagePlacement(type, await parts.capacity(), memory);
    if ('neededGib' in placement) throw needsGpu(found, placement.neededGib);
    return { model: describe(found, base, readCardLicence(card, family.licence)), placement, context: null };
  };
}

async function findAsset(
  ctx: Context,
  modelId: string,
  kind: ImageDeploymentKind,
): Promise<{ assetId: string; isStandIn: boolean }> {
  if (z.uuid().safeParse(modelId).success) return { assetId: modelId, isStandIn: false };
  const assetId = await findModelByName(ctx, modelId);
  if (assetId) return { assetId, isStandIn: false };
  const { standIn } = families[kind];
  const starter = standIn?.for.test(modelId) ? await findStarterModel(ctx.db, standIn.starter) : undefined;
  if (starter) return { assetId: starter.assetId, isStandIn: true };
  throw new AppError('conflict', {
    publicMessage:
      `You have no model ${modelId}. Upload its folder as a model named ` +
      `${modelId.slice(modelId.lastIndexOf('/') + 1)}, or choose one of your models`,
    param: 'model_id',
  });
}

async function readIndexOfKind(
  ctx: Context,
  model: AssetRevision,
  kind: ImageDeploymentKind,
): Promise<PipelineIndex> {
  const index = await readPipelineIndex(ctx, model.files);
  if (index && isServedAs(kind, index._class_name)) return index;
  if (index === null && model.files.some(({ path }) => path === ADAPTER)) {
    const publicMessage =
      'This is a LoRA: deploy the model that it was trained on, and choose the LoRA with each picture';
    throw new AppError('conflict', { publicMessage, param: 'model_id' });
  }
  throw new AppError('conflict', {
    publicMessage:
      `${model.asset.title} is not a ${families[kind].what}: ` +
      (index === null
        ? `it has no ${PIPELINE_INDEX} of Diffusers that names its pipeline`
        : `its ${PIPELINE_INDEX} names the pipeline ${index._class_name.slice(0, 100)}`),
    param: 'model_id',
  });
}

/** Returns the file's text; empty if it is missing or too large. */
async function readSmallFile(ctx: Context, { files }: AssetRevision, path: string): Promise<string> {
  const file = files.find((one) => one.path === path);
  return file && file.sizeBytes <= TEXT_BYTES_MAX ? text(await readBlob(ctx, file)) : '';
}

function describe(model: AssetRevision, base: ServedBase, licence: LicenceName | null): ServedModel {
  const { id, title } = model.asset;
  return {
    assetId: id,
    revisionId: model.revision.id,
    title,
    baseAssetId: id,
    baseTitle: title,
    base,
    adapter: null,
    isForeign: true,
    licence,
  };
}

function needsGpu({ asset }: AssetRevision, gib: number): AppError {
  return new AppError('conflict', {
    publicMessage: lackOfGpu(asset.title, gib),
    param: 'model_id',
  });
}
