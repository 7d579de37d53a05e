import {
  defaultObjective,
  defaultTargetModules,
  fineTuneDefaults,
} from '@bakehouse/contract/fine-tune-numbers';
import type { FineTunePayload } from '@bakehouse/contract/fine-tuning';
import type { DataFormatName, Objective } from '@bakehouse/contract/limits';
import type {
  TrainingSources,
  TrainTextSpec,
  ValidateReport,
  ValidateSpec,
} from '@bakehouse/contract/runtime/train-spec';
import type { Placement, WorkloadSpec } from '../../engine/model/workload.ts';
import type { AssetRevision } from '../assets/read-revision.ts';
import { listModelFiles } from '../models/weights/list-model-files.ts';
import { findGguf } from '../models/weights/model-files.ts';

/** Kalajdzievski, 'A Rank Stabilization Scaling Factor for Fine-Tuning with LoRA', 2023. */
const RSLORA_ALPHA = 16;

/** Fields of a fine-tune that determine how to read the data and how to train. */
export type FineTuneFields = Omit<
  FineTunePayload,
  | 'asset_id'
  | 'model_name'
  | 'base_model'
  | 'user_id'
  | 'ceiling'
  | 'cost_max'
  | 'slowdown'
  | 'accelerator_type'
  | 'accelerator_count'
>;

/** With defaults for omitted fields, which depend on the file's format. */
export type SettledFields = FineTuneFields &
  Required<Pick<FineTuneFields, 'objective' | 'lora_target_modules'>>;

/** Used if the run sets none. */
export const DEFAULT_SEED = 42;

/** Returns how a run requested at `now` reads its data. */
export function toDataSpec(
  fields: FineTuneFields,
  now: Date,
  validationPath: string | null = null,
): TrainTextSpec['data'] {
  const isText = isTextFile(fields.file_name);
  return {
    file_path: fields.file_name,
    format: isText ? null : requestedFormat(fields),
    input_column: isText ? null : (fields.input_column ?? null),
    output_column: isText ? null : (fields.output_column ?? null),
    rejected_column: isText ? null : (fields.rejected_column ?? null),
    label_column: isText ? null : (fields.label_column ?? null),
    system_column: isText ? null : (fields.system_column ?? null),
    segmentation_method: fields.segmentation_method,
    max_chunk_size: fields.max_chunk_size,
    stride: fields.stride,
    min_segment_length: fields.min_segment_length,
    validation_path: validationPath,
    train_test_split: fields.train_test_split,
    seed: fields.seed ?? DEFAULT_SEED,
    date: now.toISOString().slice(0, 10),
  };
}

/**
 * Returns the fields with the format that validation detected, so that the run reads the file the same way.
 */
export function withDetectedFormat<F extends FineTuneFields>(
  fields: F,
  read: ValidateReport['format'] | undefined,
): F {
  if (!read) return fields;
  return {
    ...fields,
    data_format: read.format,
    input_column: read.input_column || null,
    output_column: read.output_column || null,
    rejected_column: read.rejected_column,
    label_column: read.label_column,
    // An empty name disables it, even if the file has a column with the default name.
    system_column: read.system_column ?? fields.system_column,
  };
}

/**
 * Returns the requested format, also if implied by a column or objective; null if it must be detected from
 * the file.
 */
export function requestedFormat({
  data_format,
  rejected_column,
  label_column,
  objective,
}: FineTuneFields): DataFormatName | null {
  if (data_format) return data_format;
  if (rejected_column) return 'preference';
  if (label_column) return 'feedback';
  return objective === 'grpo' ? 'prompts' : null;
}

/** Fills in omitted fields for a known format. */
export function withDefaults<F extends FineTuneFields>(fields: F): F & SettledFields {
  const format = isTextFile(fields.file_name) ? null : requestedFormat(fields);
  const objective = fields.objective ?? defaultObjective(format);
  if (fields.adaptation === 'full') return { ...fields, objective, lora_target_modules: [] };
  return { ...fields, objective, ...settleAdapter(fields, objective) };
}

function settleAdapter(fields: FineTuneFields, objective: Objective) {
  return {
    lora_r: fields.lora_r ?? fineTuneDefaults.lora_r,
    lora_dropout: fields.lora_dropout ?? fineTuneDefaults.lora_dropout,
    use_rslora: fields.use_rslora ?? fineTuneDefaults.use_rslora,
    use_dora: fields.use_dora ?? fineTuneDefaults.use_dora,
    lora_target_modules: fields.lora_target_modules ?? defaultTargetModules(objective, fields.adaptation),
  };
}

/** Returns null if all weights are trained. */
function toLora(fields: SettledFields): ValidateSpec['parameters']['lora'] {
  if (fields.adaptation === 'full') return null;
  const { lora_r, lora_dropout, use_rslora, use_dora, lora_target_modules } = settleAdapter(
    fields,
    fields.objective,
  );
  return {
    r: lora_r,
    // By default twice the rank, or with rsLoRA the paper's constant, so that changing the rank needs no
    // other learning rate.
    alpha: fields.lora_alpha ?? (use_rslora ? RSLORA_ALPHA : lora_r * 2),
    dropout: lora_dropout,
    use_rslora,
    use_dora,
    target_modules: lora_target_modules,
  };
}

/**
 * True if a run produces a whole model. DoRA is merged into its base because no engine serves its magnitudes.
 */
export function producesWholeModel({
  adaptation,
  use_dora,
}: Pick<SettledFields, 'adaptation' | 'use_dora'>): boolean {
  return adaptation === 'full' || use_dora === true;
}

/** Returns the training parameters for validation and for the run itself. */
export function toParameters(fields: SettledFields): ValidateSpec['parameters'] {
  return {
    objective: fields.objective,
    beta: fields.beta,
    sft_weight: fields.sft_weight,
    desirable_weight: fields.desirable_weight,
    undesirable_weight: fields.undesirable_weight,
    generations: fields.generations,
    max_new_tokens: fields.max_new_tokens,
    temperature: fields.temperature,
    rewards: fields.rewards.map(toRuntimeReward),
    epochs: fields.epochs,
    learning_rate: fields.learning_rate,
    lr_scheduler: fields.lr_scheduler,
    optimizer: fields.optimizer,
    warmup_ratio: fields.warmup_ratio,
    weight_decay: fields.weight_decay,
    max_grad_norm: fields.max_grad_norm,
    neftune_noise_alpha: fields.neftune_noise_alpha,
    eval_steps: fields.eval_steps,
    early_stopping_patience: fields.early_stopping_patience,
    batch_size: fields.batch_size,
    eval_batch_size: fields.eval_batch_size,
    packing: fields.packing,
    gradient_accumulation_steps: fields.gradient_accumulation_steps,
    load_in_4bit: fields.adaptation === 'qlora',
    lora: toLora(fields),
  };
}

function toRuntimeReward(
  reward: FineTunePayload['rewards'][number],
): ValidateSpec['parameters']['rewards'][number] {
  switch (reward.type) {
    case 'json_schema':
      return { ...reward, json_schema: JSON.stringify(reward.json_schema) };
    case 'string_check':
      return { ...reward, reference: reward.reference ?? null };
    default:
      return reward;
  }
}

/** True for plain text, which is continued; all other files have columns. */
export function isTextFile(name: string): boolean {
  return /\.(txt|md)$/i.test(name);
}

/** Converts a file to the runtime's format. */
export function toInput({ path, sha256, sizeBytes }: AssetRevision['files'][number]) {
  return { path, sha256, size_bytes: sizeBytes };
}

/** Returns the runtime's spec of a run, without the fields that the engine adds. */
export function toTrainSpec(input: {
  title: string;
  fields: SettledFields;
  base: AssetRevision;
  dataset: AssetRevision;
  /** With only the file that is held out. */
  validation: AssetRevision | null;
  sources: TrainingSources;
  placement: Placement;
  now: Date;
}): WorkloadSpec {
  const { title, fields, base, dataset, validation, sources, placement, now } = input;
  const gguf = producesWholeModel(fields) ? findGguf(base) : { files: [], fault: null };
  return {
    kind: 'train',
    method: 'lora',
    title,
    // The titles are written to the model card, which is published with the model.
    base_model_title: sources.base_model === null ? 'a private model' : base.asset.title,
    dataset_title: sources.dataset === null ? 'a private dataset' : dataset.asset.title,
    sources,
    inputs: [
      { name: 'base_model', files: listModelFiles(base.files).map(toInput) },
      { name: 'dataset', files: dataset.files.filter(({ path }) => path === fields.file_name).map(toInput) },
      ...(validation ? [{ name: 'validation', files: validation.files.map(toInput) }] : []),
      // The resulting whole model also gets a GGUF with the same layout.
      ...(gguf.files.length === 1 ? [{ name: 'base_gguf', files: gguf.files.map(toInput) }] : []),
    ],
    data: toDataSpec(fields, now, validation?.files[0]?.path ?? null),
    parameters: toParameters(fields),
    device: placement.accelerator === null ? 'cpu' : 'cuda',
    gpus: Math.max(1, placement.count),
  };
}
