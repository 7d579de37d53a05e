import * as z from 'zod';
import { endpoint } from './endpoint.ts';

/** One step that the server prepares in the background after start: the environment, a starter model. */
export const preparation = z.object({
  id: z.enum(['serving', 'training', 'starter-language-model']),
  label: z.string(),
  state: z.enum(['waiting', 'running', 'ready', 'failed']),
  /** What it is doing now, in words; with `failed`, what happened and what to do. */
  detail: z.string(),
  /** 0 to 1; null while unknown. */
  progress: z.number().nullable(),
});

export const machine = z.object({
  /** GPUs that work can run on, by the product's names, or their own where it lists none; empty: work runs on the CPU. */
  accelerators: z.array(
    z.object({ gpu_type: z.string(), label: z.string(), memory_bytes: z.number(), count: z.int() }),
  ),
  /** Whether text is served on the GPUs: there are some, and vLLM is installed. Else the CPU serves it. */
  serves_text_on_gpus: z.boolean(),
  cpu: z.object({ cores: z.int(), memory_bytes: z.number() }),
  preparations: z.array(preparation),
});

export type Machine = z.infer<typeof machine>;

export const getMachine = endpoint({
  method: 'GET',
  path: '/api/v1/machine',
  access: 'key',
  summary: 'What this machine has, and what it is still preparing',
  response: machine,
});
