import * as z from 'zod';
import { serveTextSpec } from './serve-spec.ts';

/**
 * An embedding server: `POST /v1/embeddings` in OpenAI's format, always with base64. The input folder is
 * `base_model`.
 */
export const serveEmbeddingSpec = serveTextSpec.omit({ adapters: true, lora_rank: true }).extend({
  task: z.literal('embedding'),
  /** `encoder` is the runtime's own engine for safetensors on a CPU. */
  engine: z.enum(['encoder', 'llamacpp', 'vllm']),
});

export type ServeEmbeddingSpec = z.infer<typeof serveEmbeddingSpec>;
