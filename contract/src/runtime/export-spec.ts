import * as z from 'zod';
import { workloadSpecBase } from './workload-spec.ts';

/**
 * Exports a text fine-tune to one whole model. Input folders: `base_model` with its config.json and
 * tokenizer, and `adapter` with the fine-tune's own files. For a GGUF of a full fine-tune there is only
 * `base_model` with its files.
 */
const exportTextBase = workloadSpecBase.extend({
  kind: z.literal('export'),
  /** Title of the resulting model. */
  title: z.string(),
  /** The fine-tune and its hub name; null if it is not public. */
  fine_tune_title: z.string(),
  fine_tune_repository: z.string().nullable(),
  /** Licence in the base model's card. */
  license: z.string().nullable(),
  license_name: z.string().nullable(),
  license_link: z.string().nullable(),
  /** Prompts sent to both the fine-tune and the exported model to compare their answers. */
  prompts: z.array(z.string()).max(5),
});

/** The base's safetensors with the adapter merged, in the format of Transformers. */
export const exportSafetensorsSpec = exportTextBase.extend({ format: z.literal('safetensors') });

/** The base's GGUF with the adapter merged, and a Modelfile for Ollama. */
export const exportGgufSpec = exportTextBase.extend({
  format: z.literal('gguf'),
  quantization: z.enum(['F16', 'Q8_0']),
  /** The GGUF inside `base_model`. */
  base_model_file: z.string().min(1),
  /** Name of the new GGUF and of the Ollama model, without extension. */
  file_name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/),
});

export type ExportSafetensorsSpec = z.infer<typeof exportSafetensorsSpec>;
export type ExportGgufSpec = z.infer<typeof exportGgufSpec>;
