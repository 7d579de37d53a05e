import * as z from 'zod';
import { serveTextSpec } from './serve-spec.ts';

const ofTextOnly = { adapters: true, lora_rank: true, projector_file: true, pictures_max: true } as const;

/** An embedding server with OpenAI's `POST /v1/embeddings`, always in base64. Input folder: `base_model`. */
export const serveEmbeddingSpec = serveTextSpec.omit(ofTextOnly).extend({
  task: z.literal('embedding'),
  /** `encoder` is the runtime's own engine, for safetensors on a CPU. */
  engine: z.enum(['encoder', 'llamacpp', 'vllm']),
});

export type ServeEmbeddingSpec = z.infer<typeof serveEmbeddingSpec>;
