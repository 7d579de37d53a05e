import * as z from 'zod';
import { pictureDataSpec, pictureTrainingParameters } from './train-image-spec.ts';

/**
 * Input of `validate-pictures`, which reads a picture dataset like a training, but without a server or torch.
 */
export const validatePicturesSpec = z.object({
  /** Local folder with the configurations and tokenizers of the base model, without its weights. */
  base_model_dir: z.string(),
  /** Bytes of the base model's weights by part (`transformer`, `vae`, `text_encoder`, `text_encoder_2`). */
  weights_bytes: z.record(z.string(), z.int()),
  /** Local folder of the dataset. */
  dataset_dir: z.string(),
  data: pictureDataSpec,
  parameters: pictureTrainingParameters,
  lora_rank: z.int().min(1).max(256),
});

/** A file of the dataset, and one plain sentence that names it. */
export const fileNote = z.object({ file: z.string(), message: z.string() });

export const picturesReport = z.object({
  /** Number of pictures that the dataset or its metadata contains, and number of pictures to train on. */
  pictures_total: z.int(),
  pictures_kept: z.int(),
  /** The first 100 excluded files, with the reason. */
  left_out: z.array(fileNote).max(100),
  left_out_total: z.int(),
  /** Remarks about unusual files that are trained on; the first 100. */
  notes: z.array(fileNote).max(100),
  /** The first pictures to train on, with the captions as the model reads them. */
  samples: z
    .array(z.object({ file: z.string(), caption: z.string(), width: z.int(), height: z.int() }))
    .max(12),
  /** Number of pictures that are held out for evaluation; 0 if there are too few. */
  held_out: z.int(),
  /** Sizes at which pictures are trained, with the number of pictures of each. */
  sizes: z.array(z.object({ width: z.int(), height: z.int(), count: z.int() })),
  steps_total: z.int(),
  /** Number of tokens that the transformer processes per step, including captions. */
  tokens_per_step: z.int(),
  base_parameters: z.int(),
  trainable_parameters: z.int(),
  /** Peak bytes of training on a CPU, by the formula of docs/engine.md. */
  memory_bytes: z.int(),
  /** Peak bytes on a GPU. */
  gpu_memory_bytes: z.int(),
  /** Errors that make the run impossible, most important first, one plain sentence each. */
  critical_errors: z.array(z.string()),
});

export type ValidatePicturesSpec = z.infer<typeof validatePicturesSpec>;
export type PicturesReport = z.infer<typeof picturesReport>;
