import { imageDeploymentKinds } from '@bakehouse/contract/deployments/images';
import { isServedAs } from '@bakehouse/contract/deployments/pipelines';
import type { Capacity } from '../../../engine/model/capacity.ts';
import { AppError } from '../../../platform/errors.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import { PIPELINE_INDEX, type PipelineIndex } from '../../assets/recognise/pipelines.ts';
import { MODULES } from '../../models/embedding/is-embedding-model.ts';
import type { PredictedPlacement, PredictPlacement, RemoteModel } from '../../models/remote-model.ts';
import { listModelFiles } from '../../models/weights/list-model-files.ts';
import { findMissingParts, nameMissing } from '../../models/weights/missing-parts.ts';
import { findGguf } from '../../models/weights/model-files.ts';
import type { ReadCapacity, ServingPlacement } from '../served-model.ts';
import { choosePlacement, deviceLabel, gpuBytes } from './choose-placement.ts';
import { describeMissingGpu, describePipeline, families, isWeights } from './describe-pipeline.ts';
import { isEncoderFamily } from './embedding/check-encoder.ts';
import { chooseImagePlacement } from './place-image-model.ts';

const GIB = 1024 ** 3;

/** Assume the defaults of a deployment. */
const ASKED = { instanceType: 'a100', gpuCount: 1 };

const TYPE = 'NVIDIA_TESLA_A100';

/** Creates the function that predicts the placement of a remote model, from its files and their sizes. */
export function createServingPredictor({ capacity }: ReadCapacity): PredictPlacement {
  return async (model) => {
    const offered = await capacity();
    const isPipeline = model.files.some(({ path }) => path === PIPELINE_INDEX);
    if (isPipeline) return predictPipeline(model, offered);
    const isEncoder = model.files.some(({ path }) => path === MODULES);
    return isEncoder ? predictEmbedding(model, offered) : predictText(model, offered);
  };
}

async function predictPipeline(model: RemoteModel, capacity: Capacity): Promise<PredictedPlacement> {
  const index = await model.readJson(PIPELINE_INDEX);
  const name = typeof index?._class_name === 'string' ? index._class_name : null;
  const kind = imageDeploymentKinds.find((one) => isServedAs(one, name));
  if (!kind || !index || name === null)
    return cannot(
      `${model.title} is a pipeline that is not served here${name ? `: ${name.slice(0, 100)}` : ''}`,
    );
  const files = model.files.map((file) => ({ ...file, sha256: '' }));
  try {
    const base = describePipeline(
      { title: model.title, files },
      { ...index, _class_name: name },
      families[kind],
    );
    const placed = chooseImagePlacement(TYPE, capacity, families[kind].memory(base.files.filter(isWeights)));
    return 'neededGib' in placed ? cannot(describeMissingGpu(model.title, placed.neededGib)) : onto(placed);
  } catch (error) {
    if (error instanceof AppError) return cannot(error.publicMessage);
    throw error;
  }
}

/**
 * Predicts the placement of an embedding model. On the CPU, the runtime's encoder serves its safetensors;
 * otherwise the placement is that of a text model.
 */
async function predictEmbedding(model: RemoteModel, capacity: Capacity): Promise<PredictedPlacement> {
  const onGpu = placeOnGpu(model, capacity);
  const weights = listModelFiles(model.files).filter(isWeights);
  if ((onGpu !== null && typeof onGpu === 'object') || weights.length === 0)
    return predictText(model, capacity);
  const config = await model.readJson('config.json');
  return isEncoderFamily(config?.model_type)
    ? onto({ accelerator: null, count: 0 })
    : cannot(`${model.title} is of a type that the CPU cannot serve`);
}

/**
 * Predicts the placement of a text model: vLLM on a GPU that fits the safetensors, else llama.cpp with the
 * GGUF.
 */
function predictText(model: RemoteModel, capacity: Capacity): PredictedPlacement {
  const onGpu = placeOnGpu(model, capacity);
  if (onGpu !== null && typeof onGpu === 'object') return onto(onGpu);
  const { files, fault } = findGguf({ asset: model, files: model.files });
  if (files.length > 0 && fault === null) return onto({ accelerator: null, count: 0 });
  const lackOnCpu = fault ?? `${model.title} has no GGUF file, which the CPU needs`;
  return cannot(onGpu ? `${onGpu}. ${lackOnCpu}` : lackOnCpu);
}

/**
 * Returns the placement on GPUs, or a sentence that explains why no GPU can serve the model. Null if the
 * installation serves no text on GPUs.
 */
function placeOnGpu(model: RemoteModel, capacity: Capacity): ServingPlacement | string | null {
  if (choosePlacement(ASKED, capacity, 0)?.engine !== 'vllm') return null;
  const weights = listModelFiles(model.files).filter(isWeights);
  if (weights.length === 0) return `${model.title} has no safetensors weights for a GPU`;
  const missing = nameMissing(model.title, findMissingParts(weights.map(({ path }) => path)));
  if (missing) return missing;
  const bytes = weights.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const placed = choosePlacement(ASKED, capacity, bytes);
  if (placed?.engine === 'vllm') return placed;
  return describeMissingGpu(model.title, Math.ceil(gpuBytes(bytes, ASKED.gpuCount) / GIB));
}

function onto({ accelerator, count }: ServingPlacement): PredictedPlacement {
  return { device: deviceLabel({ accelerator, accelerator_count: count }), obstacle: null };
}

function cannot(obstacle: string): PredictedPlacement {
  return { device: null, obstacle };
}

/** Returns why a FLUX model cannot be loaded, as a sentence without a full stop; null if it can. */
export function findFluxFault(
  model: { title: string; files: AssetRevision['files'] },
  index: PipelineIndex,
): string | null {
  try {
    describePipeline(model, index, families.flux);
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.publicMessage;
    throw error;
  }
}

/**
 * True for another user's model that is not a starter. Its process must not serve other users' deployments.
 */
export function isForeignModel({ asset }: Pick<AssetRevision, 'asset'>, userId: string): boolean {
  return !asset.isStarter && asset.ownerUserId !== userId;
}
