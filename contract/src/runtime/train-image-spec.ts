import * as z from 'zod';
import { loraSpec } from './train-spec.ts';
import { workloadSpecBase } from './workload-spec.ts';

/** Which pictures of the `dataset` input are trained on. */
export const pictureDataSpec = z.object({
  /**
   * Path inside the `dataset` input of a JSONL file with one line a picture: `file_name`, `text`
   * and, for an edit, `source` (the picture before; `text` is then the instruction). Null takes
   * every picture, captioned by the text file of the same name beside it.
   */
  metadata_path: z.string().nullable(),
  seed: z
    .int()
    .min(0)
    .max(2 ** 31 - 1),
});

export const pictureTrainingParameters = z.object({
  steps: z.int().min(1),
  learning_rate: z.number().positive(),
  batch_size: z.int().min(1),
  /** Steps between two checkpoints; each one brings a sheet of sample pictures. */
  checkpoint_every: z.int().min(1),
});

const trainPicturesBase = workloadSpecBase.extend({
  kind: z.literal('train'),
  title: z.string(),
  base_model_title: z.string(),
  dataset_title: z.string(),
  data: pictureDataSpec,
  parameters: pictureTrainingParameters,
  device: z.enum(['auto', 'cpu', 'cuda', 'mps']),
});

/** Inputs: `dataset`, and `base_model`, a model with a `vae` folder to go on from. Captions are not read. */
export const trainAutoencoderSpec = trainPicturesBase.extend({
  method: z.literal('autoencoder'),
  /** Trains the decoder alone: latents made before stay valid. */
  freeze_encoder: z.boolean(),
});

/**
 * One part of a Paris, a run of its own. Inputs: `base_model`, a whole Paris, and `dataset`; and
 * `clusters`, the result of the part of that name, which `router` needs and with which `expert`
 * trains on the pictures of its own cluster instead of all.
 */
export const trainParisSpec = trainPicturesBase.extend({
  method: z.literal('paris'),
  part: z.enum(['clusters', 'expert', 'router']),
  /** Which expert, from 0; null for the other parts. */
  expert: z.int().min(0).nullable(),
});

/** Inputs: `base_model`, a FLUX Kontext in Diffusers' format, and `dataset`. */
export const trainKontextSpec = trainPicturesBase.extend({
  method: z.literal('kontext'),
  /** Null trains all weights of the transformer. */
  lora: loraSpec.nullable(),
});
