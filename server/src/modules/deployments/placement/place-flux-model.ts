import { text } from 'node:stream/consumers';
import type { ImageDeploymentKind } from '@bakehouse/contract/image-deployments';
import { isServedAs } from '@bakehouse/contract/image-pipelines';
import * as z from 'zod';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import { findModelByName } from '../../assets/access/find-model-by-name.ts';
import { readPipeline } from '../../assets/pipelines/read-pipeline.ts';
import { type AssetRevision, readRevision } from '../../assets/read-revision.ts';
import type { DeploymentKind, ServedBase, ServedModel } from '../kinds/deployment-kind.ts';
import { chooseImagePlacement } from './choose-image-placement.ts';
import { gpuOfInstance } from './choose-placement.ts';
import { hashFiles } from './hash-files.ts';
import { placeImageModel } from './place-image-model.ts';
import { readCardLicence } from './read-card-licence.ts';

const INDEX = 'model_index.json';
const CARD = 'README.md';
/** What Diffusers calls the weights of a LoRA that was trained for a pipeline. */
const ADAPTER = 'pytorch_lora_weights.safetensors';
const TEXT_BYTES_MAX = 512 * 1024;
/** What Diffusers opens: weights, configurations, and what tokenizers read. */
const LOADED = /\.(safetensors|json|txt|model)$/;

/**
 * How models of a kind's pipelines are placed: starters on the CPU, others on a GPU that holds them, or on the
 * CPU where they are small. `modelId` may be a name on a model hub.
 */
export function placeFluxModel(kind: ImageDeploymentKind): DeploymentKind['place'] {
  return async (ctx, parts, modelId, asked) => {
    const type = gpuOfInstance(asked.instanceType);
    if (!type) return null;
    const found = await readRevision(ctx.db, {
      assetId: await findAssetId(ctx, modelId),
      userId: ctx.caller.userId,
    });
    await checkPipeline(ctx, found, kind);
    if (found.asset.isStarter) return placeImageModel(ctx, parts, found.asset.id);
    const model = describe(found, readCardLicence(await readSmallFile(ctx, found, CARD)));
    const placement = chooseImagePlacement(type, await parts.capacity(), weightsBytes(model.base));
    if ('neededGib' in placement) throw needsGpu(found, placement.neededGib);
    return { model, placement };
  };
}

async function findAssetId(ctx: Context, modelId: string): Promise<string> {
  if (z.uuid().safeParse(modelId).success) return modelId;
  const assetId = await findModelByName(ctx, modelId);
  if (assetId) return assetId;
  throw new AppError('conflict', {
    publicMessage:
      `${modelId} is not downloaded yet. Upload its files as a model named ` +
      `${modelId.slice(modelId.lastIndexOf('/') + 1)}, or choose one of your models`,
    param: 'model_id',
  });
}

async function checkPipeline(ctx: Context, model: AssetRevision, kind: ImageDeploymentKind): Promise<void> {
  const pipeline = await readPipeline(ctx, model.files);
  if (isServedAs(kind, pipeline)) return;
  if (pipeline === null && model.files.some(({ path }) => path === ADAPTER)) {
    const publicMessage =
      'This is a LoRA: deploy the model that it was trained on, and choose the LoRA with each picture';
    throw new AppError('conflict', { publicMessage, param: 'model_id' });
  }
  const what = kind === 'flux' ? 'FLUX model' : 'FLUX Kontext model';
  throw new AppError('conflict', {
    publicMessage:
      `${model.asset.title} is not a ${what}: ` +
      (pipeline === null
        ? `it has no ${INDEX} of Diffusers that names its pipeline`
        : `its ${INDEX} names the pipeline ${pipeline.slice(0, 100)}`),
    param: 'model_id',
  });
}

/** Its text; empty where there is no such file, or a huge one. */
async function readSmallFile(ctx: Context, { files }: AssetRevision, path: string): Promise<string> {
  const file = files.find((one) => one.path === path);
  return file && file.sizeBytes <= TEXT_BYTES_MAX ? text(await readBlob(ctx, file)) : '';
}

function describe(model: AssetRevision, licence: ServedModel['licence']): ServedModel {
  const { id, title } = model.asset;
  const base = describeBase(model);
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

/** The folders of the pipeline. What lies beside them, as all weights once more in one file, is not loaded. */
function describeBase({ asset, files }: AssetRevision): ServedBase {
  const loaded = files
    .filter(({ path }) => path === INDEX || (path.includes('/') && LOADED.test(path)))
    .map(({ path, sha256, sizeBytes }) => ({ path, sha256, size_bytes: sizeBytes }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  if (!loaded.some(isWeights)) {
    throw new AppError('conflict', {
      publicMessage: `${asset.title} has no weights in safetensors, in folders as its ${INDEX} names them`,
      param: 'model_id',
    });
  }
  return { engine: 'kontext', files: loaded, filesSha256: hashFiles(loaded) };
}

function weightsBytes({ files }: ServedBase): number {
  return files.filter(isWeights).reduce((sum, { size_bytes }) => sum + size_bytes, 0);
}

function isWeights({ path }: { path: string }): boolean {
  return path.endsWith('.safetensors');
}

function needsGpu({ asset }: AssetRevision, gib: number): AppError {
  return new AppError('conflict', {
    publicMessage: `${asset.title} needs a GPU with at least ${gib} GB of memory, and this installation has none`,
    param: 'model_id',
  });
}
