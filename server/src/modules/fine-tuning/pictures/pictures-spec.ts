import type { DiffusionTrainingChoice } from '@bakehouse/contract/diffusion-training';
import type { PicturesRun } from '@bakehouse/contract/runs';
import type { TrainingSources } from '@bakehouse/contract/runtime/train-spec';
import type { ValidatePicturesSpec } from '@bakehouse/contract/runtime/validate-pictures-spec';
import type { WorkloadSpec } from '../../../engine/model/workload.ts';
import type { AssetRevision } from '../../assets/read-revision.ts';

/** Seed of runs that choose none. */
const SEED = 42;
/**
 * The same layers as in Diffusers' FLUX trainers: attention and feed-forward layers of both kinds of blocks.
 */
const TARGET_MODULES = [
  ...['attn.to_q', 'attn.to_k', 'attn.to_v', 'attn.to_out.0'],
  ...['attn.add_q_proj', 'attn.add_k_proj', 'attn.add_v_proj', 'attn.to_add_out'],
  ...['ff.net.0.proj', 'ff.net.2', 'ff_context.net.0.proj', 'ff_context.net.2', 'proj_mlp'],
];

export type PictureFields = PicturesRun['parameters'];

/** Returns the settings without the chosen dataset, model and GPU. */
export function toPictureFields(choice: DiffusionTrainingChoice): PictureFields {
  const { dataset_id, model_id, file_name, gpu_type, accelerator_count, ...fields } = choice;
  return fields;
}

/** Returns how a run reads its pictures. */
export function toPictureDataSpec(
  { trigger_word, seed }: PictureFields,
  metadataPath: string | null,
): ValidatePicturesSpec['data'] {
  return { metadata_path: metadataPath, trigger_word: trigger_word ?? null, seed: seed ?? SEED };
}

/** Returns the training parameters for validation and for the run itself. */
export function toPictureParameters(fields: PictureFields): ValidatePicturesSpec['parameters'] {
  return {
    steps: fields.steps,
    learning_rate: fields.learning_rate,
    batch_size: fields.batch_size,
    gradient_accumulation_steps: fields.gradient_accumulation_steps,
    caption_dropout: fields.caption_dropout,
    resolution: fields.resolution ?? null,
    checkpoint_every: fields.sample_every,
  };
}

type Training = {
  title: string;
  fields: PictureFields;
  metadataPath: string | null;
  base: AssetRevision;
  dataset: AssetRevision;
  sources: TrainingSources;
  device: 'cpu' | 'cuda';
};

/** Returns the runtime's spec of a picture run, without the fields that the engine adds. */
export function toPicturesSpec(training: Training): WorkloadSpec {
  const { title, fields, metadataPath, base, dataset, sources, device } = training;
  const toInput = ({ path, sha256, sizeBytes }: AssetRevision['files'][number]) => ({
    path,
    sha256,
    size_bytes: sizeBytes,
  });
  return {
    kind: 'train',
    method: 'flux',
    title,
    // The titles are written to the model card, which is published with the model.
    base_model_title: sources.base_model === null ? 'a private model' : base.asset.title,
    dataset_title: sources.dataset === null ? 'a private dataset' : dataset.asset.title,
    sources,
    inputs: [
      { name: 'base_model', files: base.files.map(toInput) },
      { name: 'dataset', files: dataset.files.map(toInput) },
    ],
    data: toPictureDataSpec(fields, metadataPath),
    parameters: toPictureParameters(fields),
    // With alpha equal to the rank, the adapter's scale is always 1.
    lora: { r: fields.lora_r, alpha: fields.lora_r, dropout: 0, target_modules: TARGET_MODULES },
    sample_prompts: fields.sample_prompts,
    device,
  };
}
