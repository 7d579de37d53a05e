import * as z from 'zod';
import { serveTextSpec } from './serve-spec.ts';

/**
 * A model server that turns texts into vectors: `POST /v1/embeddings` as OpenAI has it, always in base64.
 * The input folder is `base_model`.
 */
export const serveEmbeddingSpec = serveTextSpec.omit({ adapters: true }).extend({
  task: z.literal('embedding'),
  /** `encoder`: the runtime's own, for safetensors on a CPU. */
  engine: z.enum(['encoder', 'llamacpp', 'vllm']),
});

export type ServeEmbeddingSpec = z.infer<typeof serveEmbeddingSpec>;
