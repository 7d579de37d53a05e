import * as z from 'zod';
import { loraSpec, trainingSources } from './train-spec.ts';
import { workloadSpecBase } from './workload-spec.ts';

/** The pictures of the `dataset` input to train on. */
export const pictureDataSpec = z.object({
  /**
   * Path inside the `dataset` input of a JSONL file with one line per picture: `file_name`, `text` and, for
   * an edit, `source` (the picture before; `text` is then the instruction). Null for every picture with the
   * text file of the same name as its caption.
   */
  metadata_path: z.string().nullable(),
  /** Prepended to each caption that lacks it, and the caption of pictures without one; null for none. */
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
  /** Batches whose gradients are accumulated for one step. */
  gradient_accumulation_steps: z.int().min(1).default(1),
  /** Share of examples that lose their caption. */
  caption_dropout: z.number().min(0).max(1).default(0.1),
  /** Side of a square with as many pixels as the training pictures; null for the base's output resolution. */
  resolution: z.int().min(16).max(4096).nullable().default(null),
  /** Steps between checkpoints; each draws samples. */
  checkpoint_every: z.int().min(1),
});

/** A sample: each checkpoint draws it with this prompt and seed, like a model server. */
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
   * With an adapter: samples of each checkpoint, first before any step. Empty for a sheet of held-out
   * pictures.
   */
  sample_prompts: z.array(samplePrompt).max(8).default([]),
});

/** Inputs: `base_model`, a whole Paris model, and `dataset`. */
export const trainParisSpec = trainPicturesBase.extend({
  method: z.literal('paris'),
  /** Index of the trained expert, from 0. */
  expert: z.int().min(0),
});

export type TrainFluxSpec = z.infer<typeof trainFluxSpec>;
