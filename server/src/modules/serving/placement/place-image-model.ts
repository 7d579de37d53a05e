import { text } from 'node:stream/consumers';
import { type ImageDeploymentKind, imageDeploymentKinds } from '@bakehouse/contract/deployments/images';
import { isServedAs } from '@bakehouse/contract/deployments/pipelines';
import type { LicenceName } from '@bakehouse/contract/licences';
import type { GpuType } from '@bakehouse/contract/limits';
import * as z from 'zod';
import type { Capacity } from '../../../engine/model/capacity.ts';
import type { Gpu } from '../../../engine/model/gpu.ts';
import { chooseGpu } from '../../../engine/queue/choose-gpu.ts';
import type { Context } from '../../../platform/context.ts';
import { type AppError, conflict } from '../../../platform/errors.ts';
import { readBlob } from '../../../platform/storage/read-blob.ts';
import { findModelByName } from '../../assets/access/find-model-by-name.ts';
import { requireRevision } from '../../assets/access/require-revision.ts';
import { type AssetRevision, readRevision } from '../../assets/read-revision.ts';
import { PIPELINE_INDEX, type PipelineIndex, readPipelineIndex } from '../../assets/recognise/pipelines.ts';
import { findStarterModel } from '../../models/starter/find-starter-model.ts';
import type {
  Place,
  PlacedModel,
  ReadCapacity,
  ServedBase,
  ServedModel,
  ServingPlacement,
} from '../served-model.ts';
import { gpuOfInstance } from './choose-placement.ts';
import { describeMissingGpu, describePipeline, families, hashFiles, isWeights } from './describe-pipeline.ts';
import type { ImageMemory } from './image-memory.ts';

const GIB = 1024 ** 3;

/** The part of a GPU's memory that a process may use. */
const GPU_SHARE = 0.95;

/**
 * GPU memory needed besides the weights: CUDA and a one-megapixel picture. The runtime reserves the same for
 * Paris.
 */
const BESIDE_WEIGHTS_BYTES = 4 * GIB;

/** Maximum size on the CPU. A larger model would take minutes per picture. */
const CPU_WEIGHTS_BYTES_MAX = GIB;

/** Licences under which anyone may serve a model, as named in model cards. */
const open = new Set([
  'apache-2.0',
  'mit',
  'bsd-2-clause',
  'bsd-3-clause',
  'cc0-1.0',
  'cc-by-4.0',
  'unlicense',
]);

const CARD = 'README.md';

/** File name that Diffusers uses for LoRA weights. */
const ADAPTER = 'pytorch_lora_weights.safetensors';

const TEXT_BYTES_MAX = 512 * 1024;

/**
 * Returns the placement and files of an image starter. It always runs on the CPU, because it is small and
 * deployments need the GPUs. Throws AppError 'not_found', and 'conflict' for a model that is not an image
 * starter.
 */
export async function placeImageModel(
  ctx: Context,
  _parts: ReadCapacity,
  assetId: string,
): Promise<PlacedModel> {
  const wanted = { assetId, userId: ctx.caller.userId };
  const { asset } = await requireRevision(ctx.db, wanted);
  if (asset.starterTask !== 'image') throw notAnImageModel(asset);
  // Read the files only now: the model is a starter with few files, while a user's model may have any number.
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
  return conflict(`${title} is not a picture model`);
}

/**
 * Returns the requested GPU if the model fits, else a GPU of another type, else the CPU for a small model. If
 * nothing fits, returns how many gibibytes a GPU would need.
 */
export function chooseImagePlacement(
  type: GpuType,
  { gpus = [] }: Capacity,
  { allBytes, gpuBytes }: ImageMemory,
): ServingPlacement | { neededGib: number } {
  const neededBytes = gpuBytes + BESIDE_WEIGHTS_BYTES;
  const fits = ({ memoryBytes }: Gpu) => neededBytes <= memoryBytes * GPU_SHARE;
  const gpu = chooseGpu({ type, count: 1 }, { gpus: gpus.filter(fits) }, () => true);
  if (gpu) return { accelerator: gpu.type, count: 1 };
  if (allBytes <= CPU_WEIGHTS_BYTES_MAX) return { accelerator: null, count: 0 };
  return { neededGib: Math.ceil(neededBytes / GPU_SHARE / GIB) };
}

/**
 * Returns the function that places models of this kind: starters on the CPU; other models on a GPU that fits
 * them, or on the CPU if they are small. `modelId` may also be a name on a model hub.
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
  throw conflict(
    `You have no model ${modelId}. Upload its folder as a model named ` +
      `${modelId.slice(modelId.lastIndexOf('/') + 1)}, or choose one of your models`,
    { param: 'model_id' },
  );
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
    throw conflict(publicMessage, { param: 'model_id' });
  }
  throw conflict(
    `${model.asset.title} is not a ${families[kind].what}: ` +
      (index === null
        ? `it has no ${PIPELINE_INDEX} of Diffusers that names its pipeline`
        : `its ${PIPELINE_INDEX} names the pipeline ${index._class_name.slice(0, 100)}`),
    { param: 'model_id' },
  );
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
  return conflict(describeMissingGpu(asset.title, gib), { param: 'model_id' });
}

/**
 * Returns the licence that users must accept: null if the model card's header names an open licence, else the
 * licence of the model's family.
 */
export function readCardLicence(card: string, ofFamily: LicenceName | null): LicenceName | null {
  const [, header = ''] = /^---\r?\n([\s\S]*?)\r?\n---/.exec(card) ?? [];
  const [, name = ''] = /^license:[ \t]*["']?([^\s"'#]+)/im.exec(header) ?? [];
  return open.has(name.toLowerCase()) ? null : ofFamily;
}
