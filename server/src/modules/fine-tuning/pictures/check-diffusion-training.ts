import type { DiffusionTrainingChoice, DiffusionValidation } from '@bakehouse/contract/diffusion-training';
import { METADATA } from '@bakehouse/contract/gallery';
import type { GpuType } from '@bakehouse/contract/limits';
import type { PicturesReport } from '@bakehouse/contract/runtime/validate-pictures-spec';
import type { Context } from '../../../platform/context.ts';
import { type AssetRevision, readRevision } from '../../assets/read-revision.ts';
import type { Price } from '../../billing/prices/prices.ts';
import { readPrices } from '../../billing/prices/read-prices.ts';
import { selectMeasuredFlops } from '../measured-queries.ts';
import { placeRun, type RunPlace } from '../place-run.ts';
import type { TrainingParts } from '../validation/check-fine-tune.ts';
import { type RunCpu, toCostEstimate } from '../validation/estimate-load.ts';
import {
  CPU_CORE_FLOPS,
  findMemoryFault,
  PASS_OVERHEAD_S,
  peakFlops,
  runCostMicro,
} from '../validation/estimate-run.ts';
import { type FindFluxFault, findPictureBaseFault } from './find-picture-base-fault.ts';
import {
  type PictureFields,
  toPictureDataSpec,
  toPictureFields,
  toPictureParameters,
} from './pictures-spec.ts';

/** Forward passes per sample. Each sampler step needs one pass with the prompt and one without it. */
const SAMPLE_PASSES = 40;

/**
 * Each checkpoint validates 64 small pictures, or fewer large ones, at five noise levels (see
 * `train/diffusion/train.py`).
 */
const MEASURED = { rows: 64, side: 128, times: 5 };

/** Number of crops of each small picture. */
const CUTS = 8;

/** The part of a GPU's peak speed that training a full-size model reaches with recomputed activations. */
const GPU_UTILISATION = 0.3;

/** Maximum files of a dataset: a caption for each picture, and a few others. */
const FILES_MAX = 5000;

/** Files that configure how the model reads pictures and texts. */
const CONFIGURATION = /\.(json|txt|model)$/;

const WEIGHTS = /^([^/]+)\/.*\.safetensors$/;

/** With a larger dropout, the LoRA hardly learns what the words of the captions mean. */
const DROPOUT_USUAL_MAX = 0.5;

/** Learning rates above these are unusual for small and for full-size models. */
const LEARNING_RATE_USUAL_MAX = { small: 0.01, full: 0.001 };

const FULL_SIZE_PARAMETERS = 1e9;

const NOTHING_READ = {
  ...{ tokens_per_step: 0, steps_total: 0, base_parameters: 0 },
  ...{ sizes: [], held_out: 0, pictures_kept: 0 },
};

/** A fault that prevents a run. `about` is the field of the call that causes it; null if it is no field. */
type Fault = { message: string; about: keyof DiffusionTrainingChoice | null };

export type DiffusionCheck = {
  /** The result that the wizard shows. Without critical errors, the run may start. */
  validation: DiffusionValidation;
  faults: Fault[];
  base: AssetRevision;
  dataset: AssetRevision;
  metadataPath: string | null;
  fields: PictureFields;
  place: RunPlace;
  price: Price;
  seconds: number;
  flops: number;
  costMicro: bigint;
};

/**
 * Reads all pictures as the run would. Returns where the run would go, its cost, and what prevents it. Throws
 * AppError if the caller may not read the dataset or the base model.
 */
export async function checkDiffusionTraining(
  ctx: Context,
  {
    capacity,
    readPictures,
    findFluxFault,
  }: Pick<TrainingParts, 'capacity' | 'readPictures' | 'findFluxFault'>,
  choice: DiffusionTrainingChoice,
  { cpu, signal }: { cpu: RunCpu; signal: AbortSignal },
): Promise<DiffusionCheck> {
  const { userId } = ctx.caller;
  const base = await readRevision(ctx.db, { assetId: choice.model_id, userId, param: 'model_id' });
  const dataset = await readRevision(ctx.db, {
    ...{ assetId: choice.dataset_id, userId, limit: FILES_MAX + 1, param: 'dataset_id' },
  });
  const fields = toPictureFields(choice);
  const metadataPath = findMetadata(choice, dataset);
  const faults = await findChoiceFaults(ctx, { base, dataset, metadataPath, choice, findFluxFault });
  const report =
    faults.length > 0
      ? null
      : await readPictures(
          ctx,
          {
            base: base.files.filter(({ path }) => CONFIGURATION.test(path)),
            files: dataset.files,
            spec: {
              weights_bytes: weightsBytes(base),
              data: toPictureDataSpec(fields, metadataPath),
              parameters: toPictureParameters(fields),
              lora_rank: fields.lora_r,
            },
          },
          signal,
        );
  faults.push(...(report?.critical_errors ?? []).map((message) => ({ message, about: null })));

  const wanted = { type: choice.gpu_type, count: 1 };
  const place = placeRun(wanted, report?.gpu_memory_bytes ?? 0, await capacity());
  if (place.gpu !== null && choice.accelerator_count > 1) {
    faults.push({ message: 'Diffusion training uses one GPU: choose 1', about: 'accelerator_count' });
  }
  const device = place.gpu === null ? 'cpu' : 'gpu';
  const neededBytes = (place.gpu ? report?.gpu_memory_bytes : report?.memory_bytes) ?? 0;
  const refusal = faults.length === 0 ? findMemoryFault(neededBytes, place.gpu, cpu.memoryBytes) : null;
  if (refusal) faults.push({ message: refusal, about: null });

  const price = (await readPrices(ctx.db, ctx.clock.now()))[place.priceId];
  const work = report ?? NOTHING_READ;
  const measured = await selectMeasuredFlops(ctx.db, { priceId: place.priceId, kind: 'pictures' });
  const seconds =
    place.gpu === null
      ? pictureCpuSeconds(work, fields, cpu.cores, measured) * cpu.slowdown
      : pictureGpuSeconds(work, fields, place.gpu.like);
  return {
    validation: {
      critical_errors: faults.map(({ message }) => message),
      warnings: report ? warnings(report, fields) : [],
      cost_estimate: toCostEstimate(place, price, seconds, cpu.slowdown),
      placement: { device, gpu_type: place.placement.accelerator, description: place.description },
      file_name: metadataPath,
      data: report && withoutErrors({ ...report, memory_bytes: neededBytes }),
    },
    ...{ faults, base, dataset, metadataPath, fields, place, price, seconds },
    flops: pictureFlops(work, fields, device),
    costMicro: runCostMicro(price, seconds, place.devices),
  };
}

/** Returns the path of the file with all captions; null if each picture has a text file. */
function findMetadata({ file_name }: DiffusionTrainingChoice, { files }: AssetRevision): string | null {
  if (file_name !== undefined) return file_name;
  return files.some(({ path }) => path === METADATA) ? METADATA : null;
}

type Chosen = {
  findFluxFault: FindFluxFault;
  base: AssetRevision;
  dataset: AssetRevision;
  metadataPath: string | null;
  choice: DiffusionTrainingChoice;
};

/** Returns faults that can be found without reading the pictures. */
async function findChoiceFaults(
  ctx: Context,
  { base, dataset, metadataPath, choice, findFluxFault }: Chosen,
): Promise<Fault[]> {
  const faults: Fault[] = [];
  const baseFault = await findPictureBaseFault(ctx, base, findFluxFault);
  if (baseFault) faults.push({ message: baseFault, about: 'model_id' });
  const { title, datasetType } = dataset.asset;
  if (datasetType !== 'RAW')
    faults.push({ message: `${title} is a model: choose a dataset`, about: 'dataset_id' });
  if (dataset.files.length > FILES_MAX)
    faults.push({ message: `${title} has more than ${FILES_MAX} files`, about: 'dataset_id' });
  if (metadataPath !== null && !dataset.files.some(({ path }) => path === metadataPath))
    faults.push({ message: `${title} has no file ${metadataPath}`, about: 'file_name' });
  if (choice.sample_every > choice.steps)
    faults.push({
      message: `Steps between samples must be at most ${choice.steps}, the steps of the run`,
      about: 'sample_every',
    });
  return faults;
}

/** Returns the bytes of weights by part of the pipeline. */
function weightsBytes({ files }: AssetRevision): Record<string, number> {
  const bytes: Record<string, number> = {};
  for (const { path, sizeBytes } of files) {
    const part = WEIGHTS.exec(path)?.[1];
    if (part !== undefined) bytes[part] = (bytes[part] ?? 0) + sizeBytes;
  }
  return bytes;
}

function warnings(report: PicturesReport, fields: PictureFields): string[] {
  const size = report.base_parameters > FULL_SIZE_PARAMETERS ? 'full' : 'small';
  const usualMax = LEARNING_RATE_USUAL_MAX[size];
  return [
    ...(report.left_out_total > 0
      ? [
          `${report.left_out_total} of ${report.pictures_total} pictures are left out. Each is named below with its reason.`,
        ]
      : []),
    ...(fields.learning_rate > usualMax
      ? [
          `A learning rate of ${fields.learning_rate} is far above what this model usually tolerates (up to ${usualMax}): the pictures may be distorted.`,
        ]
      : []),
    ...(fields.caption_dropout > DROPOUT_USUAL_MAX
      ? ['More than half of the captions are dropped: the LoRA will hardly learn what the words mean.']
      : []),
  ];
}

function withoutErrors({
  critical_errors,
  gpu_memory_bytes,
  ...data
}: PicturesReport): NonNullable<DiffusionValidation['data']> {
  return data;
}

/* Estimates the duration of a picture LoRA; docs/engine.md has the formulas. */

type Work = Pick<
  PicturesReport,
  'tokens_per_step' | 'steps_total' | 'base_parameters' | 'sizes' | 'held_out' | 'pictures_kept'
>;

type Settings = {
  batch_size: number;
  gradient_accumulation_steps: number;
  sample_every: number;
  sample_prompts: unknown[];
};

/**
 * Returns the operations of a run. Training needs 4 per token and parameter, because the base is frozen, and
 * 6 on a GPU, which recomputes activations. Samples and validation at checkpoints need 2.
 */
export function pictureFlops(work: Work, settings: Settings, device: 'cpu' | 'gpu'): number {
  const trained = (device === 'gpu' ? 6 : 4) * work.tokens_per_step * work.steps_total;
  const pictureTokens = work.tokens_per_step / (settings.batch_size * settings.gradient_accumulation_steps);
  const passes = countCheckpoints(work, settings) * (samplePasses(settings) + measuredPasses(work));
  return work.base_parameters * (trained + 2 * pictureTokens * passes);
}

/** Returns the seconds of training on one GPU of this type. */
export function pictureGpuSeconds(work: Work, settings: Settings, type: GpuType): number {
  const speed = peakFlops[type] * GPU_UTILISATION;
  return pictureFlops(work, settings, 'gpu') / speed + overhead(work, settings);
}

/**
 * Returns the seconds of training on this machine's CPU.
 * @param measuredFlops operations per second that finished runs reached here; null before the first.
 */
export function pictureCpuSeconds(
  work: Work,
  settings: Settings,
  cores: number,
  measuredFlops: number | null,
): number {
  const flops = pictureFlops(work, settings, 'cpu');
  if (measuredFlops !== null) return flops / measuredFlops;
  return flops / (CPU_CORE_FLOPS * cores) + overhead(work, settings);
}

/**
 * Returns the seconds for launching all passes, which take longer than the computation of a small model.
 * Sampling passes are shorter.
 */
function overhead(work: Work, settings: Settings): number {
  const training = work.steps_total * settings.gradient_accumulation_steps;
  const drawing = countCheckpoints(work, settings) * samplePasses(settings);
  return (training + drawing / 4) * PASS_OVERHEAD_S;
}

/** Samples are also drawn before the first step, so that counts as a checkpoint. */
function countCheckpoints({ steps_total: steps }: Work, settings: Settings): number {
  return Math.ceil(steps / settings.sample_every) + (settings.sample_prompts.length > 0 ? 1 : 0);
}

/** Returns the passes for all samples of one checkpoint. */
function samplePasses({ sample_prompts: prompts }: Settings): number {
  return prompts.length * SAMPLE_PASSES;
}

function measuredPasses({ sizes, held_out: heldOut, pictures_kept: kept }: Work): number {
  const pixels = MEASURED.rows * MEASURED.side ** 2;
  const rows = sizes.map(({ width, height }) => Math.max(1, Math.floor(pixels / (width * height))));
  const all = rows.reduce((sum, count) => sum + Math.min(count, MEASURED.rows), 0);
  return MEASURED.times * Math.min(all, CUTS * (heldOut || kept));
}
