import * as z from 'zod';
import { loraSpec, trainingSources } from './train-spec.ts';
import { workloadSpecBase } from './workload-spec.ts';

/** Which pictures of the `dataset` input are trained on. */
export const pictureDataSpec = z.object({
  /**
   * Path inside the `dataset` input of a JSONL file with one line a picture: `file_name`, `text`
   * and, for an edit, `source` (the picture before; `text` is then the instruction). Null takes
   * every picture, captioned by the text file of the same name beside it.
   */
  metadata_path: z.string().nullable(),
  /** Stands before each caption that does not have it, and for a picture without one; null: none. */
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
  /** Batches whose gradients make one step. */
  gradient_accumulation_steps: z.int().min(1).default(1),
  /** The part of the examples that lose their caption. */
  caption_dropout: z.number().min(0).max(1).default(0.1),
  /** Side of a square that has as many pixels as the pictures are trained in; null: what the base generates. */
  resolution: z.int().min(16).max(4096).nullable().default(null),
  /** Steps between two checkpoints; each one brings samples. */
  checkpoint_every: z.int().min(1),
});

/** A picture of the samples: each checkpoint makes it anew, as a model server does by this prompt and seed. */
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
  /** Null in runs of before there was this field. */
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
  /** With an adapter: what each checkpoint draws, the first before any step. None: a sheet of held-out pictures. */
  sample_prompts: z.array(samplePrompt).max(8).default([]),
});

/** Inputs: `base_model`, a whole Paris, and `dataset`. */
export const trainParisSpec = trainPicturesBase.extend({
  method: z.literal('paris'),
  /** Which expert is trained, from 0. */
  expert: z.int().min(0),
});

export type TrainFluxSpec = z.infer<typeof trainFluxSpec>;
