import * as z from 'zod';
import { workloadSpecBase } from './workload-spec.ts';

/**
 * Exports a fine-tune of a text model to one whole model. Input folders: `base_model` with config.json and
 * tokenizer, and `adapter` with the files of the fine-tune. To export a full fine-tune as GGUF, there is only
 * `base_model`, which contains the fine-tune's files.
 */
const exportTextBase = workloadSpecBase.extend({
  kind: z.literal('export'),
  /** Title of the resulting model. */
  title: z.string(),
  /** The fine-tune, with its name on the hub, or null if it is not public. */
  fine_tune_title: z.string(),
  fine_tune_repository: z.string().nullable(),
  /** Licence in the base model's card. */
  license: z.string().nullable(),
  license_name: z.string().nullable(),
  license_link: z.string().nullable(),
  /** Prompts that the fine-tune and the exported model both answer, to compare their answers. */
  prompts: z.array(z.string()).max(5),
});

/** The adapter merged into the base's safetensors, in the format of Transformers. */
export const exportSafetensorsSpec = exportTextBase.extend({ format: z.literal('safetensors') });

/** The adapter merged into the base's GGUF, with a Modelfile for Ollama. */
export const exportGgufSpec = exportTextBase.extend({
  format: z.literal('gguf'),
  quantization: z.enum(['F16', 'Q8_0']),
  /** Name of the GGUF file in `base_model`. */
  base_model_file: z.string().min(1),
  /** Name of the new GGUF and of the Ollama model, without extension. */
  file_name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/),
});

export type ExportSafetensorsSpec = z.infer<typeof exportSafetensorsSpec>;
export type ExportGgufSpec = z.infer<typeof exportGgufSpec>;
