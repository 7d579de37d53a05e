import * as z from 'zod';
import { pictureDataSpec, pictureTrainingParameters } from './train-image-spec.ts';

/** Input of `validate-pictures`: reads a dataset of pictures as training would, without a server and without torch. */
export const validatePicturesSpec = z.object({
  /** Local folder with what says how the base model reads: its configurations and tokenizers, no weights. */
  base_model_dir: z.string(),
  /** Bytes of the base model's weights by part (`transformer`, `vae`, `text_encoder`, `text_encoder_2`). */
  weights_bytes: z.record(z.string(), z.int()),
  /** Local folder of the dataset. */
  dataset_dir: z.string(),
  data: pictureDataSpec,
  parameters: pictureTrainingParameters,
  lora_rank: z.int().min(1).max(256),
});

/** A file of the dataset, and one plain sentence about it that names it. */
export const fileNote = z.object({ file: z.string(), message: z.string() });

export const picturesReport = z.object({
  /** Pictures that the dataset has or its metadata names, and those that are trained on. */
  pictures_total: z.int(),
  pictures_kept: z.int(),
  /** The first 100 that are left out, with the reason of each. */
  left_out: z.array(fileNote).max(100),
  left_out_total: z.int(),
  /** What is unusual about others, which are trained on: the first 100. */
  notes: z.array(fileNote).max(100),
  /** The first that are kept, with the captions that the model reads. */
  samples: z
    .array(z.object({ file: z.string(), caption: z.string(), width: z.int(), height: z.int() }))
    .max(12),
  /** Pictures that are measured on and not trained on; 0: too few to spare any. */
  held_out: z.int(),
  /** The sizes in which pictures are trained, with how many of each. */
  sizes: z.array(z.object({ width: z.int(), height: z.int(), count: z.int() })),
  steps_total: z.int(),
  /** Tokens that the transformer reads at a step, those of the captions among them. */
  tokens_per_step: z.int(),
  base_parameters: z.int(),
  trainable_parameters: z.int(),
  /** Peak bytes that training needs on a CPU, by the formula of docs/engine.md. */
  memory_bytes: z.int(),
  /** The same on a GPU. */
  gpu_memory_bytes: z.int(),
  /** What makes the run impossible, most important first, one plain sentence each. */
  critical_errors: z.array(z.string()),
});

export type ValidatePicturesSpec = z.infer<typeof validatePicturesSpec>;
export type PicturesReport = z.infer<typeof picturesReport>;
