import { text } from 'node:stream/consumers';
import type { ImageDeploymentKind } from '@bakehouse/contract/deployments/images';
import { isServedAs } from '@bakehouse/contract/deployments/pipelines';
import type { LicenceName } from '@bakehouse/contract/licences';
import type { InputFile } from '@bakehouse/contract/runtime/workload-spec';
import * as z from 'zod';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import { findModelByName } from '../../assets/access/find-model-by-name.ts';
import { type AssetRevision, readRevision } from '../../assets/read-revision.ts';
import { type PipelineIndex, readPipelineIndex } from '../../assets/recognise/read-pipeline-index.ts';
import { findMissingShards } from '../../models/weights/find-missing-shards.ts';
import { nameMissing } from '../../models/weights/name-missing.ts';
import type { ImageEngine } from '../image-spec.ts';
import type { Place, ServedBase, ServedModel } from '../served-model.ts';
import { chooseImagePlacement } from './choose-image-placement.ts';
import { gpuOfInstance } from './choose-placement.ts';
import { hashFiles } from './hash-files.ts';
import { type ImageMemory, parisMemory, wholeMemory } from './image-memory.ts';
import { type NeededParts, neededOfFlux, neededOfParis } from './needed-parts.ts';
import { placeImageModel } from './place-image-model.ts';
import { readCardLicence } from './read-card-licence.ts';

const INDEX = 'model_index.json';
const CARD = 'README.md';
/** What Diffusers calls the weights of a LoRA that was trained for a pipeline. */
const ADAPTER = 'pytorch_lora_weights.safetensors';
const TEXT_BYTES_MAX = 512 * 1024;
/** What is opened: weights, configurations, and what tokenizers read. */
const LOADED = /\.(safetensors|json|txt|model)$/;

type Family = {
  /** What a model of the kind is called. */
  what: string;
  engine: ImageEngine;
  /** The licence of its weights where a model's card names no open one. */
  licence: LicenceName | null;
  /** Of a model with this index and these files. */
  needed: (index: PipelineIndex, paths: string[]) => NeededParts;
  memory: (weights: InputFile[]) => ImageMemory;
};

const flux = {
  engine: 'kontext',
  licence: 'flux-1-dev-non-commercial',
  needed: neededOfFlux,
  memory: wholeMemory,
} as const satisfies Omit<Family, 'what'>;

const families: Record<ImageDeploymentKind, Family> = {
  flux: { ...flux, what: 'FLUX model' },
  'flux-kontext': { ...flux, what: 'FLUX Kontext model' },
  paris: {
    what: 'Paris model',
    engine: 'paris',
    licence: null,
    needed: neededOfParis,
    memory: parisMemory,
  },
};

/**
 * How models of a kind's pipelines are placed: starters on the CPU, others on a GPU that has room for them, or on the
 * CPU where they are small. `modelId` may be a name on a model hub.
 */
export function placePipelineModel(kind: ImageDeploymentKind): Place {
  return async (ctx, parts, modelId, asked) => {
    const type = gpuOfInstance(asked.instanceType);
    if (!type) return null;
    const found = await readRevision(ctx.db, {
      assetId: await findAssetId(ctx, modelId),
      userId: ctx.caller.userId,
    });
    const index = await readIndexOfKind(ctx, found, kind);
    if (found.asset.isStarter) return placeImageModel(ctx, parts, found.asset.id);
    const family = families[kind];
    const card = await readSmallFile(ctx, found, CARD);
    const base = describeBase(found, index, family);
    const memory = family.memory(base.files.filter(isWeights));
    const placement = chooseImagePlacement(type, await parts.capacity(), memory);
    if ('neededGib' in placement) throw needsGpu(found, placement.neededGib);
    return { model: describe(found, base, readCardLicence(card, family.licence)), placement };
  };
}

async function findAssetId(ctx: Context, modelId: string): Promise<string> {
  if (z.uuid().safeParse(modelId).success) return modelId;
  const assetId = await findModelByName(ctx, modelId);
  if (assetId) return assetId;
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
        ? `it has no ${INDEX} of Diffusers that names its pipeline`
        : `its ${INDEX} names the pipeline ${index._class_name.slice(0, 100)}`),
    param: 'model_id',
  });
}

/** Its text; empty where there is no such file, or a huge one. */
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

/** The folders of the pipeline. What lies beside them, as all weights once more in one file, is not loaded. */
function describeBase(
  { asset, files }: AssetRevision,
  index: PipelineIndex,
  { engine, needed }: Family,
): ServedBase {
  const loaded = files
    .filter(({ path }) => path === INDEX || (path.includes('/') && LOADED.test(path)))
    .map(({ path, sha256, sizeBytes }) => ({ path, sha256, size_bytes: sizeBytes }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const paths = loaded.map(({ path }) => path);
  const { weights, others } = needed(index, paths);
  const withoutWeights = weights.find(
    (part) => !loaded.some((file) => isWeights(file) && file.path.startsWith(`${part}/`)),
  );
  if (withoutWeights !== undefined)
    throw lacks(asset.title, `no weights in safetensors in its folder ${withoutWeights}`);
  const missing = others.find((part) => !paths.some((path) => path === part || path.startsWith(`${part}/`)));
  if (missing !== undefined) throw lacks(asset.title, `no ${missing}`);
  const incomplete = nameMissing(asset.title, findMissingShards(paths));
  if (incomplete) throw new AppError('conflict', { publicMessage: incomplete, param: 'model_id' });
  return { engine, files: loaded, filesSha256: hashFiles(loaded) };
}

function lacks(title: string, what: string): AppError {
  return new AppError('conflict', { publicMessage: `${title} has ${what}`, param: 'model_id' });
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
