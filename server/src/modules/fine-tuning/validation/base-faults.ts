import {
  type Adaptation,
  adapterFieldWith,
  CHOOSING_EXAMPLES_MIN,
  DORA_IN_4_BITS,
  headWith,
  QLORA_WITHOUT_GPU,
} from '@bakehouse/contract/fine-tune-numbers';
import type { FineTunePayload } from '@bakehouse/contract/fine-tuning';
import { gpuCounts, type Objective } from '@bakehouse/contract/limits';
import * as z from 'zod';
import type { Capacity } from '../../../engine/model/capacity.ts';
import type { Services } from '../../../platform/context.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';
import { readPipelineIndex } from '../../assets/recognise/pipelines.ts';
import { isEmbeddingModel } from '../../models/embedding/is-embedding-model.ts';
import {
  describeClassifier,
  findSafetensors,
  isClassifier,
  readModelJson,
} from '../../models/weights/model-files.ts';
import type { FineTuneFields } from '../fine-tune-spec.ts';

const quantised = z.object({
  quantization_config: z.looseObject({ quant_method: z.string().max(40).optional() }),
});

/** Fields that only apply to adapters. */
const ADAPTER_FIELDS = [
  'lora_r',
  'lora_alpha',
  'lora_dropout',
  'use_rslora',
  'use_dora',
  'lora_target_modules',
] as const satisfies (keyof FineTunePayload)[];

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
  if (await isClassifier(services, base)) return describeClassifier(base.asset);
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

/** Training needs the original weights, which a quantized upload lacks. MXFP4 is dequantized by the run. */
export function findQuantisation(config: Record<string, unknown> | null): string | null {
  const { data } = quantised.safeParse(config);
  if (!data || data.quantization_config.quant_method === 'mxfp4') return null;
  const method = data.quantization_config.quant_method ?? 'by a method that its config.json does not name';
  return `The base is quantized (${method}). Upload the unquantized weights`;
}

/** Returns adapter fields that were sent for full fine-tuning, and fields incompatible with 4 bits. */
export function findAdaptationFaults(
  fields: Pick<FineTuneFields, 'adaptation' | (typeof ADAPTER_FIELDS)[number]>,
): { message: string; about: keyof FineTunePayload }[] {
  if (fields.adaptation === 'qlora') return findFaultsIn4Bits(fields);
  if (fields.adaptation !== 'full') return [];
  return ADAPTER_FIELDS.filter((name) => fields[name] !== undefined).map((name) => ({
    message: adapterFieldWith(name),
    about: name,
  }));
}

function findFaultsIn4Bits({
  use_dora,
  lora_target_modules: modules = [],
}: Pick<FineTuneFields, 'use_dora' | 'lora_target_modules'>): ReturnType<typeof findAdaptationFaults> {
  const faults: ReturnType<typeof findAdaptationFaults> = [];
  if (use_dora) faults.push({ message: DORA_IN_4_BITS, about: 'use_dora' });
  if (modules.includes('lm_head')) faults.push({ message: headWith('sft'), about: 'lora_target_modules' });
  return faults;
}

type Asked = {
  count: number;
  objective: Objective;
  adaptation: Adaptation;
  use_dora?: boolean | undefined;
  batch_size: number;
  gradient_accumulation_steps: number;
};

/** Returns why a run cannot use this many GPUs. Without any GPU it goes to the CPU regardless. */
export function findGpuFaults(
  { count, objective, adaptation, use_dora, batch_size, gradient_accumulation_steps }: Asked,
  { gpus = [] }: Capacity,
): { message: string; about: 'accelerator_count' }[] {
  if (count === 1 || gpus.length === 0) return [];
  const most = Math.max(...gpus.map(({ devices }) => devices.length));
  const rows = batch_size * gradient_accumulation_steps;
  const faults = [
    count > most &&
      `No machine here has ${count} GPUs of one kind: choose ${gpuCounts.filter((one) => one <= most).join(' or ')}`,
    adaptation === 'full' && 'Full fine-tuning trains on one GPU: choose 1',
    adaptation === 'qlora' && 'QLoRA trains on one GPU: choose 1',
    use_dora && 'DoRA trains on one GPU: choose 1',
    rows % count > 0 &&
      `${count} GPUs cannot share the ${rows} rows of a step (batch size x gradient accumulation): make it a multiple of ${count}`,
    objective === 'kto' &&
      rows % count === 0 &&
      !canCompare(batch_size, rows / count) &&
      `KTO compares the answers of a batch, and each of ${count} GPUs would get one: choose a batch size of ${2 * count} or more`,
  ];
  return faults.flatMap((message) => (message ? [{ message, about: 'accelerator_count' }] : []));
}

/** Returns true if a GPU with this many rows of a step gets batches of two or more (`share_batch` in the runtime). */
function canCompare(batchSize: number, rows: number): boolean {
  const sizes = Array.from({ length: Math.min(batchSize, rows) }, (_, at) => at + 1);
  return sizes.some((size) => size > 1 && rows % size === 0);
}

/** Returns why a run cannot go to the CPU: the kernels of bitsandbytes need a GPU. */
export function findCpuFaults(
  { adaptation, optimizer }: Pick<Asked, 'adaptation'> & Pick<FineTunePayload, 'optimizer'>,
  { gpu }: { gpu: unknown },
  { gpus = [] }: Capacity,
): { message: string; about: 'adaptation' | 'optimizer' }[] {
  if (gpu !== null) return [];
  const tooSmall =
    'needs a GPU, and none here is large enough: choose a smaller batch size, chunk size or base model';
  const faults: ReturnType<typeof findCpuFaults> = [];
  if (adaptation === 'qlora') {
    faults.push({
      message: gpus.length === 0 ? QLORA_WITHOUT_GPU : `QLoRA ${tooSmall}`,
      about: 'adaptation',
    });
  }
  if (optimizer === 'adamw_8bit') {
    const message = `8-bit AdamW ${gpus.length === 0 ? 'needs a GPU, and there is none here: choose AdamW' : `${tooSmall}, or AdamW`}`;
    faults.push({ message, about: 'optimizer' });
  }
  return faults;
}

type Stopping = Pick<FineTunePayload, 'early_stopping_patience'>;

/** Returns why a run cannot use early stopping with its held-out rows. */
export function findStoppingFaults(
  { early_stopping_patience: patience }: Stopping,
  heldOut: number,
): { message: string; about: 'early_stopping_patience' }[] {
  if (patience === 0 || heldOut >= CHOOSING_EXAMPLES_MIN) return [];
  const message =
    `Early stopping needs at least ${CHOOSING_EXAMPLES_MIN} held-out examples, and there ` +
    `${heldOut === 1 ? 'is 1' : `are ${heldOut}`}: hold out more rows, or set early stopping patience to 0`;
  return [{ message, about: 'early_stopping_patience' }];
}

/**
 * Warns about a patience that can never be exceeded. The first evaluation is always the best one, so the
 * patience needs that many more.
 */
export function findStoppingWarnings(
  { early_stopping_patience: patience }: Stopping,
  evaluations: number,
): string[] {
  if (patience === 0 || patience < evaluations) return [];
  const count = evaluations === 1 ? 'is 1 evaluation' : `are ${evaluations} evaluations`;
  return [
    `An early stopping patience of ${patience} never ends this run, in which there ${count}: evaluate more often, or be less patient.`,
  ];
}
