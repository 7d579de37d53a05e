import type { InputOf } from '@bakehouse/contract/endpoint';
import { fineTuneDefaults } from '@bakehouse/contract/fine-tune-numbers';
import type {
  FineTunePayload,
  FineTuneValidation,
  validateFineTune as validateFineTuneEndpoint,
} from '@bakehouse/contract/fine-tuning';
import type { GpuType } from '@bakehouse/contract/limits';
import type { ValidateReport } from '@bakehouse/contract/runtime/train-spec';
import type { TrackerService } from '@bakehouse/contract/trackers';
import type { Capacity } from '../../../engine/model/capacity.ts';
import type { Context } from '../../../platform/context.ts';
import type { Database } from '../../../platform/db/database.ts';
import { type AssetRevision, readRevision } from '../../assets/read-revision.ts';
import { findClonedAsset } from '../../assets/sources/sources.ts';
import type { Price } from '../../billing/prices/prices.ts';
import { readPrices } from '../../billing/prices/read-prices.ts';
import type { IdleCredit } from '../../billing/usage/with-idle-credit.ts';
import { listModelFiles } from '../../models/weights/list-model-files.ts';
import { readModelJson } from '../../models/weights/model-files.ts';
import { describeCloneWarning, type HubBase, readHubBase } from '../cloning/hub-base.ts';
import {
  type FineTuneFields,
  type SettledFields,
  toDataSpec,
  toParameters,
  withDefaults,
  withDetectedFormat,
} from '../fine-tune-spec.ts';
import { selectMeasuredFlops, selectMeasuredMemory } from '../measured-queries.ts';
import type { FindFluxFault } from '../pictures/find-picture-base-fault.ts';
import type { ReadPictures } from '../pictures/read-pictures.ts';
import { placeRun, type RunPlace } from '../place-run.ts';
import { type KnownData, readOrEstimate } from '../readings/read-or-estimate.ts';
import {
  findAdaptationFaults,
  findBaseFault,
  findCpuFaults,
  findGpuFaults,
  findStoppingFaults,
  findStoppingWarnings,
} from './base-faults.ts';
import { type RunCpu, toCostEstimate } from './estimate-load.ts';
import {
  correctMemoryEstimate,
  countEvaluations,
  cpuSeconds,
  findMemoryFault,
  gpuSeconds,
  recommendGpus,
  runCostMicro,
  runFlops,
  type Work,
} from './estimate-run.ts';
import { findFormatFaults, findObjectiveFaults } from './find-format-faults.ts';
import type { DataToRead, ReadData } from './read-data.ts';
import { findObjectiveWarnings, findServingWarnings } from './warnings.ts';

/** Dependencies of the training module. */
export type TrainingParts = {
  capacity: () => Promise<Capacity>;
  readData: ReadData;
  readPictures: ReadPictures;
  findFluxFault: FindFluxFault;
  /** The usage windows of this process. */
  usage: IdleCredit;
  /** Throws for a call's field that needs a tracker which its owner has not connected. */
  requireTracker: RequireTracker;
  /** Returns the CPU that a run would use now. */
  runCpu: (db: Database) => Promise<RunCpu>;
};

export type RequireTracker = (
  db: Database,
  tracker: { userId: string; service: TrackerService; param: string },
) => Promise<void>;

export type FineTuneRequest = {
  datasetId: string;
  /** Its asset id or its name on the public hub. */
  baseModelId: string;
  /** A separate held-out file; null if part of the dataset is held out. */
  validation: { datasetId: string; fileName: string } | null;
  gpu: { type: GpuType; count: number };
  fields: FineTuneFields;
  /** The CPU that a run would use. */
  cpu: RunCpu;
  /** Aborts when the caller disconnects. */
  signal: AbortSignal;
  /** Whether to continue reading a long file in the background. */
  readsOn: boolean;
  /** The call's field names for dataset and base. */
  params: { dataset: string; base: string };
};

/** A fault that prevents a run, and the field of the payload or job that causes it, if any. */
type Fault = { message: string; about: keyof FineTunePayload | 'validation_file' | null };

export type FineTuneCheck = {
  /** Shown by the wizard. A run may start if there are no critical errors. */
  validation: FineTuneValidation;
  /** The critical errors with their fields. */
  faults: Fault[];
  base: AssetRevision;
  /** The base model if it must be cloned first; null if it is stored here. */
  hubBase: HubBase | null;
  dataset: AssetRevision;
  /** With only the held-out file. */
  heldOut: AssetRevision | null;
  place: RunPlace;
  /** Hourly price of one device: the quoted price is the one held and charged. */
  price: Price;
  seconds: number;
  flops: number;
  /** Needed memory on the chosen device, by the formula alone. */
  memoryBytes: number;
  costMicro: bigint;
};

/** Validates a run for the wizard. Changes nothing. */
export async function validateFineTune(
  ctx: Context,
  parts: TrainingParts,
  { body }: InputOf<typeof validateFineTuneEndpoint>,
  signal: AbortSignal,
): Promise<FineTuneValidation> {
  const { dataset_id, model_id, gpu_type, accelerator_count, ...fields } = body;
  const { userId } = ctx.caller;
  const cloned = model_id.includes('/')
    ? await findClonedAsset(ctx.db, { userId, repoId: model_id, type: 'model' })
    : null;
  const check = await checkFineTune(ctx, parts, {
    datasetId: dataset_id,
    baseModelId: cloned ?? model_id,
    gpu: { type: gpu_type, count: accelerator_count },
    validation: null,
    fields,
    cpu: await parts.runCpu(ctx.db),
    signal,
    readsOn: true,
    params: { dataset: 'dataset_id', base: 'model_id' },
  });
  return check.validation;
}

/**
 * Reads the files of a fine-tune like the run would, of a long file only the first rows. Returns where the
 * run goes, what it costs and what prevents it. Throws AppError if the caller may not read the dataset or the
 * base model.
 */
export async function checkFineTune(
  ctx: Context,
  { capacity, readData }: Pick<TrainingParts, 'capacity' | 'readData'>,
  { datasetId, baseModelId, validation, gpu, fields: asked, cpu, signal, readsOn, params }: FineTuneRequest,
): Promise<FineTuneCheck> {
  const { userId } = ctx.caller;
  const hubBase = baseModelId.includes('/') ? await readHubBase(ctx, baseModelId, signal) : null;
  const base =
    hubBase?.base ??
    (await readRevision(ctx.db, { assetId: baseModelId, userId, top: true, param: params.base }));
  const dataset = await readRevision(ctx.db, {
    ...{ assetId: datasetId, userId, paths: [asked.file_name], param: params.dataset },
  });
  const heldOut =
    validation &&
    (await readRevision(ctx.db, {
      ...{ assetId: validation.datasetId, userId, paths: [validation.fileName], param: 'validation_file' },
    }));

  const faults = await findChoiceFaults(ctx, { base, dataset, hubBase }, asked);
  const [dataFile] = dataset.files;
  const known: KnownData | null =
    faults.length > 0 || !dataFile
      ? null
      : await readSettled(ctx, readData, asked, {
          input: {
            base: listModelFiles(base.files),
            dataFile,
            validationFile: heldOut?.files[0] ?? null,
          },
          datasetId,
          validationPath: validation?.fileName ?? null,
          // Reading in the background would need the model later.
          readsOn: readsOn && hubBase === null,
          signal,
        });
  const report = known?.report ?? null;
  const fields = withDefaults(withDetectedFormat(asked, report?.format));
  faults.push(...(report?.critical_errors ?? []).map((message) => ({ message, about: null })));
  if (report && report.critical_errors.length === 0) {
    faults.push(...findObjectiveFaults(fields), ...findStoppingFaults(fields, report.eval_examples));
  }
  const ofValidation = report?.validation_errors ?? [];
  faults.push(...ofValidation.map((message) => ({ message, about: 'validation_file' as const })));
  const ofTargets = report?.target_errors ?? [];
  faults.push(...ofTargets.map((message) => ({ message, about: 'lora_target_modules' as const })));
  const ofRewards = report?.reward_errors ?? [];
  faults.push(...ofRewards.map((message) => ({ message, about: 'rewards' as const })));
  const readable = report !== null && report.critical_errors.length + ofValidation.length === 0;

  const there = await capacity();
  const ofGpus = findGpuFaults({ ...fields, count: gpu.count }, there);
  faults.push(...ofGpus);
  const wanted = ofGpus.length > 0 ? { ...gpu, count: 1 } : gpu;
  const formula = { cpu: report?.memory_bytes ?? 0, gpu: report?.gpu_memory_bytes ?? 0 };
  const measured = await selectMeasuredMemory(ctx.db, { baseId: base.asset.id, ...fields });
  const gpuBytes = correctMemoryEstimate(formula.gpu, measured.gpu);
  const place = placeRun(wanted, gpuBytes, there);
  const ofCpu = findCpuFaults(fields, place, there);
  faults.push(...ofCpu);
  const device = place.gpu === null ? 'cpu' : 'gpu';
  const neededBytes = place.gpu ? gpuBytes : correctMemoryEstimate(formula.cpu, measured.cpu);
  const refusal =
    readable && ofCpu.length === 0 ? findMemoryFault(neededBytes, place.gpu, cpu.memoryBytes) : null;
  if (refusal) faults.push({ message: refusal, about: null });

  const prices = await readPrices(ctx.db, ctx.clock.now());
  const price = prices[place.priceId];
  const work = toWork(report, fields);
  const seconds =
    place.gpu === null
      ? cpuSeconds(
          work,
          cpu.cores,
          await selectMeasuredFlops(ctx.db, { priceId: place.priceId, kind: 'text' }),
        ) * cpu.slowdown
      : gpuSeconds(work, place.gpu.like, place.devices);
  return {
    validation: {
      critical_errors: faults.map(({ message }) => message),
      warnings: [
        ...(hubBase ? [describeCloneWarning(hubBase)] : []),
        ...(report?.warnings ?? []),
        ...findObjectiveWarnings(fields, report?.ratings ?? null),
        ...(readable ? findStoppingWarnings(fields, work.evaluations) : []),
        ...(readable ? await readWarnings(ctx, { base, report, fields }, there) : []),
      ],
      cost_estimate: toCostEstimate(place, price, seconds, cpu.slowdown),
      recommendations: {
        recommended_gpus: readable ? recommendGpus(work, gpuBytes, prices) : [],
      },
      placement: { device, gpu_type: place.placement.accelerator, description: place.description },
      reading: known?.reading ?? null,
      data: report && { ...report, memory_bytes: neededBytes },
    },
    faults,
    base,
    hubBase,
    dataset,
    heldOut,
    place,
    price,
    seconds,
    flops: runFlops(work, device),
    memoryBytes: formula[device],
    costMicro: runCostMicro(price, seconds, place.devices),
  };
}

type ToRead = Omit<Parameters<typeof readOrEstimate>[2], 'input' | 'readsOn'> & {
  input: Omit<DataToRead, 'spec'>;
  validationPath: string | null;
  readsOn: boolean;
};

/** Reads the file as requested, and again if its detected format changes the objective. */
async function readSettled(
  ctx: Context,
  readData: ReadData,
  asked: FineTuneFields,
  { input, validationPath, readsOn, ...wanted }: ToRead,
): Promise<KnownData> {
  const readFor = (fields: SettledFields) =>
    readOrEstimate(ctx, readData, {
      ...wanted,
      input: {
        ...input,
        spec: {
          data: toDataSpec(fields, ctx.clock.now(), validationPath),
          parameters: toParameters(fields),
        },
      },
      readsOn: (report) => readsOn && isFor(fields, report),
    });
  const isFor = ({ objective }: SettledFields, { format }: ValidateReport) =>
    withDefaults(withDetectedFormat(asked, format)).objective === objective;
  const fields = withDefaults(asked);
  const known = await readFor(fields);
  return isFor(fields, known.report)
    ? known
    : readFor(withDefaults(withDetectedFormat(asked, known.report.format)));
}

/** Returns faults that can be found without reading the files like the run would. */
async function findChoiceFaults(
  ctx: Context,
  { base, dataset, hubBase }: Pick<FineTuneCheck, 'base' | 'dataset' | 'hubBase'>,
  fields: FineTuneFields,
): Promise<Fault[]> {
  const faults: Fault[] = [...findFormatFaults(fields), ...findAdaptationFaults(fields)];
  const baseFault = hubBase ? hubBase.fault : await findBaseFault(ctx, base);
  if (baseFault) faults.push({ message: baseFault, about: 'base_model' });
  const { title, datasetType } = dataset.asset;
  if (datasetType !== 'RAW')
    faults.push({ message: `${title} is a model: choose a dataset`, about: 'asset_id' });
  if (dataset.files.length === 0) {
    faults.push(
      { message: 'Invalid file selection. Please try again.', about: 'file_name' },
      { message: `${title} has no file ${fields.file_name}`, about: 'file_name' },
    );
  }
  return faults;
}

async function readWarnings(
  ctx: Context,
  { base, report, fields }: { base: AssetRevision; report: ValidateReport; fields: SettledFields },
  capacity: Capacity,
): Promise<string[]> {
  const config = await readModelJson(ctx, base.files, 'config.json');
  return findServingWarnings({ base, config, obstacle: report.gguf_obstacle, fields }, capacity);
}

function toWork(report: ValidateReport | null, fields: SettledFields): Work {
  return {
    objective: fields.objective,
    adaptation: fields.adaptation,
    dora: fields.use_dora ? { dropout: fields.lora_dropout ?? fineTuneDefaults.lora_dropout } : null,
    written:
      fields.objective === 'grpo' ? { answers: fields.generations, tokens: fields.max_new_tokens } : null,
    train_tokens: report?.train_tokens ?? 0,
    train_padded_tokens: report?.train_padded_tokens ?? 0,
    eval_padded_tokens: report?.eval_padded_tokens ?? 0,
    // A pack of examples counts as one.
    train_examples: report?.packs ?? report?.train_examples ?? 0,
    eval_examples: report?.eval_examples ?? 0,
    base_parameters: report?.base_parameters ?? 0,
    epochs: fields.epochs,
    steps: report?.steps_total ?? 0,
    batchSize: fields.batch_size,
    evalBatchSize: fields.eval_batch_size,
    evaluations: countEvaluations(report?.steps_total ?? 0, fields.epochs, fields.eval_steps),
  };
}
