import * as z from 'zod';
import { workloadSpecBase } from './workload-spec.ts';

/**
 * A fine-tune of text as one whole model. Input folders: `base_model`, with its config.json and tokenizer, and
 * `adapter`, the fine-tune's own files; of one whose weights were all trained, these alone, as `base_model`, for a GGUF.
 */
const exportTextBase = workloadSpecBase.extend({
  kind: z.literal('export'),
  /** What the model is called that comes of it. */
  title: z.string(),
  /** The fine-tune, and how hubs call it; null where not everybody may read it. */
  fine_tune_title: z.string(),
  fine_tune_repository: z.string().nullable(),
  /** What the base model's card says of its licence. */
  license: z.string().nullable(),
  license_name: z.string().nullable(),
  license_link: z.string().nullable(),
  /** What the fine-tune and the exported model are both asked, to compare their answers. */
  prompts: z.array(z.string()).max(5),
});

/** The base's safetensors with the adapter merged, as Transformers loads them. */
export const exportSafetensorsSpec = exportTextBase.extend({ format: z.literal('safetensors') });

/** The base's GGUF with the adapter merged, and a Modelfile for Ollama. */
export const exportGgufSpec = exportTextBase.extend({
  format: z.literal('gguf'),
  quantization: z.enum(['F16', 'Q8_0']),
  /** The GGUF inside `base_model`. */
  base_model_file: z.string().min(1),
  /** What the new GGUF is called, and the model in the line for Ollama: without an ending. */
  file_name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/),
});

export type ExportSafetensorsSpec = z.infer<typeof exportSafetensorsSpec>;
export type ExportGgufSpec = z.infer<typeof exportGgufSpec>;
