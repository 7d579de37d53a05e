import * as z from 'zod';
import { loraSpec, trainingSources } from './train-spec.ts';
import { workloadSpecBase } from './workload-spec.ts';

/** Which pictures of the `dataset` input to train on, and how. */
export const pictureDataSpec = z.object({
  /**
   * Path of a JSONL file in the `dataset` input. Each line has `file_name` and `text` of a picture. For an
   * edit, it also has `source`, the picture before, and `text` is the instruction. Null if each picture has a
   * text file with the same name.
   */
  metadata_path: z.string().nullable(),
  /** Prepended to each caption that lacks it, and the caption of pictures without one. Null for none. */
  trigger_word: z.string().nullable().default(null),
  seed: z
    .int()
    .min(0)
    .max(2 ** 31 - 1),
});

export const pictureTrainingParameters = z.object({
  steps: z.int().min(1),
  learning_rate: z.number().positive(),
  batch_size: z.int().min(1),
  /** Number of batches whose gradients are added up for one step. */
  gradient_accumulation_steps: z.int().min(1).default(1),
  /** Share of examples that are trained without their caption. */
  caption_dropout: z.number().min(0).max(1).default(0.1),
  /** Side of a square with as many pixels as the training pictures; null for the base's output resolution. */
  resolution: z.int().min(16).max(4096).nullable().default(null),
  /** Number of steps between checkpoints. Samples are drawn at each one. */
  checkpoint_every: z.int().min(1),
});

/** A sample prompt. At each checkpoint, a picture is drawn with this prompt and seed. */
export const samplePrompt = z.object({
  prompt: z.string(),
  seed: z
    .int()
    .min(0)
    .max(2 ** 32 - 1),
});

const trainPicturesBase = workloadSpecBase.extend({
  kind: z.literal('train'),
  title: z.string(),
  base_model_title: z.string(),
  dataset_title: z.string(),
  /** Null in runs from before this field existed. */
  sources: trainingSources.nullable().default(null),
  data: pictureDataSpec,
  parameters: pictureTrainingParameters,
  device: z.enum(['auto', 'cpu', 'cuda', 'mps']),
});

/** Inputs: `base_model`, a FLUX or FLUX Kontext in Diffusers' format, and `dataset`. */
export const trainFluxSpec = trainPicturesBase.extend({
  method: z.literal('flux'),
  /** Null trains all weights of the transformer. */
  lora: loraSpec.nullable(),
  /**
   * With an adapter: the samples to draw, first before any step and then at each checkpoint. If empty, one
   * sheet of held-out pictures is drawn instead.
   */
  sample_prompts: z.array(samplePrompt).max(8).default([]),
});

/** Inputs: `base_model`, a complete Paris model, and `dataset`. */
export const trainParisSpec = trainPicturesBase.extend({
  method: z.literal('paris'),
  /** Index of the expert to train, from 0. */
  expert: z.int().min(0),
});

export type TrainFluxSpec = z.infer<typeof trainFluxSpec>;
