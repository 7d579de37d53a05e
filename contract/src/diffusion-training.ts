import * as z from 'zod';
import { pictureTrainingFields } from './diffusion-fields.ts';
import { endpoint } from './endpoint.ts';
import { countOfGpus } from './fields/count-of-gpus.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';
import { nameText, tags } from './fields/text.ts';
import { fineTuneDefaults } from './fine-tune-numbers.ts';
import { agreedCost, costEstimate, runPlacement, startedRun } from './fine-tuning.ts';
import { gpuTypes, NAME_LENGTH_MAX } from './limits.ts';
import { picturesReport } from './runtime/validate-pictures-spec.ts';

/** Model, dataset, GPU and settings. */
const choice = {
  /** The dataset with the pictures. */
  dataset_id: idOf('dataset'),
  /** The base model of the LoRA: a FLUX or FLUX Kontext. */
  model_id: idOf('model'),
  /**
   * A JSONL file of the dataset with `file_name` and `text` of each picture. Null for a text file next to
   * each picture. Defaults to `metadata.jsonl` if present.
   */
  file_name: z.string().min(1).nullish(),
  gpu_type: z.enum(gpuTypes, 'Please select a GPU configuration').default(fineTuneDefaults.accelerator_type),
  accelerator_count: countOfGpus.default(fineTuneDefaults.accelerator_count),
  ...pictureTrainingFields,
};

export const diffusionTrainingChoice = only(choice);

export type DiffusionTrainingChoice = z.output<typeof diffusionTrainingChoice>;

export const validateDiffusionTraining = endpoint({
  method: 'POST',
  path: '/api/v1/diffusion-training/validate',
  access: 'key',
  operation: 'validate parameters',
  summary: 'Validate a LoRA training on pictures: reads every file, quotes the cost',
  body: diffusionTrainingChoice,
  response: z.object({
    critical_errors: z.array(z.string()),
    warnings: z.array(z.string()),
    cost_estimate: costEstimate,
    placement: runPlacement,
    /** The file with the captions; null for a text file next to each picture. */
    file_name: z.string().nullable(),
    /** The report; null if nothing could be read. `memory_bytes` is for the chosen device. */
    data: picturesReport.omit({ critical_errors: true, gpu_memory_bytes: true }).nullable(),
  }),
});

export type DiffusionValidation = z.output<NonNullable<(typeof validateDiffusionTraining)['response']>>;

/** Creates a model and the run that fills it with the LoRA. Holds the quote; charges only the time used. */
export const startDiffusionTraining = endpoint({
  method: 'POST',
  path: '/api/v1/diffusion-training',
  access: 'key',
  operation: 'start the training',
  summary: 'Train a LoRA for an image model on your pictures',
  spends: true,
  status: 201,
  body: only({ title: nameText(NAME_LENGTH_MAX), tags: tags.default([]), ...agreedCost, ...choice }),
  response: startedRun,
});
