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
  /** Steps between two checkpoints; each one brings samples. */
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

/** Inputs: `base_model`, a FLUX Kontext in Diffusers' format, and `dataset`. */
export const trainFluxSpec = trainPicturesBase.extend({
  method: z.literal('flux'),
  /** Null trains all weights of the transformer. */
  lora: loraSpec.nullable(),
});

/** Inputs: `base_model`, a whole Paris, and `dataset`. */
export const trainParisSpec = trainPicturesBase.extend({
  method: z.literal('paris'),
  /** Which expert is trained, from 0. */
  expert: z.int().min(0),
});
