import * as z from 'zod';
import { workloadSpecBase } from './workload-spec.ts';

/**
 * A text model server: one base model and any number of adapters on it.
 * Input folders: `base_model`, and one per adapter under the adapter's `input`.
 * Each request chooses its adapter by the position in `adapters` (llama.cpp: `"lora": [{id, scale}]`)
 * or by its name (vLLM: `"model"`).
 */
export const serveTextSpec = workloadSpecBase.extend({
  kind: z.literal('serve'),
  task: z.literal('text'),
  engine: z.enum(['llamacpp', 'vllm']),
  /** Name under which the base answers on the model server. */
  model_name: z.string(),
  /** llama.cpp: the GGUF file inside `base_model`. vLLM: empty, the folder itself is loaded. */
  model_file: z.string(),
  adapters: z.array(
    z.object({
      name: z.string(),
      input: z.string(),
      /** llama.cpp: the GGUF adapter inside the input; empty where it is made there from PEFT's files. vLLM: empty. */
      file: z.string(),
      rank: z.int(),
    }),
  ),
  host: z.string(),
  /** 0 lets the system choose; the `ready` report tells which. */
  port: z.int().min(0).max(65535),
  /** What whoever asks has to show as a bearer token: the server answers nobody else. */
  api_key: z.string().min(1),
  context_tokens: z.int().min(1),
  parallel_requests: z.int().min(1),
  threads: z.int().min(1),
  /** GPUs that hold the model together, each a part of it; 0 on the CPU. */
  gpus: z.int().min(0).default(0),
});

export type ServeTextSpec = z.infer<typeof serveTextSpec>;
