import * as z from 'zod';
import type { Services } from '../../../platform/context.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import { readPipelineIndex } from '../../assets/recognise/read-pipeline-index.ts';
import { isEmbeddingModel } from '../../models/embedding/is-embedding-model.ts';
import { findSafetensors } from '../../models/weights/find-safetensors.ts';
import { isClassifier, writesNoText } from '../../models/weights/is-classifier.ts';
import { readModelJson } from '../../models/weights/read-model-json.ts';

/**
 * Returns why a model cannot be the base of a fine-tune, judged by its file list, without a full stop; null
 * if it can.
 */
export async function findBaseFault(
  services: Pick<Services, 'blobs' | 'clock' | 'db' | 'log'>,
  base: Pick<AssetRevision, 'asset' | 'files'>,
): Promise<string | null> {
  const { title, datasetType, starterTask } = base.asset;
  if (datasetType !== 'MODEL') return `${title} is a dataset: choose a model as base`;
  if (await isClassifier(services, base)) return writesNoText(base.asset);
  if (base.files.some(({ path }) => path === 'adapter_config.json')) {
    return `${title} is itself a fine-tune: choose the model that it was made from as base`;
  }
  // A Diffusers pipeline is not a text model.
  if (starterTask === 'image' || (await readPipelineIndex(services, base.files)))
    return `${title} generates pictures: choose a text model as base`;
  if (await isEmbeddingModel(services, base))
    return `${title} makes embeddings, and is not fine-tuned here: choose a text model as base`;
  const weights = await findSafetensors(services, base);
  if (weights.files.length === 0) return `${title} has no safetensors weights to train on`;
  return weights.fault ?? findQuantisation(await readModelJson(services, base.files, 'config.json'));
}

const quantised = z.object({
  quantization_config: z.looseObject({ quant_method: z.string().max(40).optional() }),
});

/** LoRA needs the original weights, which a quantized upload lacks. */
export function findQuantisation(config: Record<string, unknown> | null): string | null {
  const { data } = quantised.safeParse(config);
  if (!data) return null;
  const method = data.quantization_config.quant_method ?? 'by a method that its config.json does not name';
  return `The base is quantised (${method}). Upload the unquantised weights`;
}
