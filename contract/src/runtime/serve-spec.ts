import * as z from 'zod';
import { workloadSpecBase } from './workload-spec.ts';

/**
 * A text model server: one base model and any number of adapters for it. Input folders: `base_model`, and one
 * per adapter named by the adapter's `input`. Each request selects its adapter by the position in `adapters`
 * (llama.cpp: `"lora": [{id, scale}]`) or by name (vLLM: `"model"`).
 */
export const serveTextSpec = workloadSpecBase.extend({
  kind: z.literal('serve'),
  task: z.literal('text'),
  engine: z.enum(['llamacpp', 'vllm']),
  /** Name of the base model on the model server. */
  model_name: z.string(),
  /** For llama.cpp, the GGUF file in `base_model`. Empty for vLLM, which loads the folder. */
  model_file: z.string(),
  /** For llama.cpp, the GGUF file in `base_model` that turns pictures into embeddings; empty without one. */
  projector_file: z.string().default(''),
  /** For vLLM, the maximum number of pictures of a request; 0 if the model reads none. */
  pictures_max: z.int().min(0).default(0),
  adapters: z.array(
    z.object({
      name: z.string(),
      input: z.string(),
      /** For llama.cpp, the GGUF adapter in the input; empty to convert PEFT's files. Empty for vLLM. */
      file: z.string(),
      rank: z.int(),
    }),
  ),
  /** Largest rank of an adapter that vLLM can load later, while it runs; 0 if it loads none. */
  lora_rank: z.int().min(0).default(0),
  host: z.string(),
  /** With 0, the system chooses the port, which the `ready` report contains. */
  port: z.int().min(0).max(65535),
  /** Bearer token that callers must send. */
  api_key: z.string().min(1),
  context_tokens: z.int().min(1),
  parallel_requests: z.int().min(1),
  threads: z.int().min(1),
  /** Number of GPUs that share the model; 0 for the CPU. */
  gpus: z.int().min(0).default(0),
});

export type ServeTextSpec = z.infer<typeof serveTextSpec>;
