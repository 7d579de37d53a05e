import { gpuLabel } from '@bakehouse/contract/labels';
import type { Capacity } from '../../../engine/model/capacity.ts';
import { PIPELINE_INDEX } from '../../assets/recognise/pipelines.ts';
import type { PredictPlacement, RemoteModel } from '../../models/remote-model.ts';
import { listModelFiles } from '../../models/weights/list-model-files.ts';
import { findMissingParts, nameMissing } from '../../models/weights/missing-parts.ts';
import { placeRun } from '../place-run.ts';
import { findQuantisation } from './base-faults.ts';
import { fitsInto, gigabytes } from './estimate-run.ts';
import { findMissingFile } from './find-train-obstacle.ts';

/** A run needs at least this multiple of the memory of its weights. */
const BESIDE_WEIGHTS = 1.3;
const WANTED = { type: 'NVIDIA_TESLA_A100', count: 1 } as const;

type Parts = { capacity: () => Promise<Capacity>; machineBytes: () => number };

/**
 * Creates the function that predicts on which device a remote model can be fine-tuned, from its list of
 * files.
 */
export function createTrainingPredictor({ capacity, machineBytes }: Parts): PredictPlacement {
  return async (model) => {
    const obstacle = await findRemoteFault(model);
    if (obstacle) return { device: null, obstacle };
    const weights = listModelFiles(model.files).filter(isWeights);
    const neededBytes = BESIDE_WEIGHTS * weights.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const { gpu } = placeRun(WANTED, neededBytes, await capacity());
    if (gpu) return { device: `1 x ${gpuLabel(gpu.type)}`, obstacle: null };
    if (fitsInto(machineBytes(), neededBytes)) return { device: 'CPU', obstacle: null };
    const lack = `${model.title} needs at least ${gigabytes(neededBytes)} of memory to be trained`;
    return { device: null, obstacle: `${lack}, which neither a GPU nor this machine has` };
  };
}

/**
 * Returns why a model on the public hub cannot be the base of a fine-tune, without a full stop; null if it
 * can.
 */
export async function findRemoteFault(model: RemoteModel): Promise<string | null> {
  const { title, files } = model;
  const paths = files.map(({ path }) => path);
  if (paths.includes('adapter_config.json'))
    return `${title} is itself a fine-tune: choose the model that it was made from as base`;
  if (paths.includes(PIPELINE_INDEX)) return `${title} generates pictures: choose a text model as base`;
  const weights = listModelFiles(files).filter(isWeights);
  if (weights.length === 0) return `${title} has no safetensors weights to train on`;
  return (
    nameMissing(title, findMissingParts(weights.map(({ path }) => path))) ??
    findQuantisation(await model.readJson('config.json')) ??
    findMissingFile({ title, files })
  );
}

function isWeights({ path }: { path: string }): boolean {
  return path.endsWith('.safetensors');
}
