import * as z from 'zod';
import { endpoint } from './endpoint.ts';

/** One step that the server prepares in the background after start: the environment, a starter model. */
const preparation = z.object({
  id: z.enum([
    'serving',
    'training',
    'starter-language-model',
    'starter-embedding-model',
    'starter-image-model',
    'vllm',
  ]),
  label: z.string(),
  state: z.enum(['waiting', 'running', 'ready', 'failed']),
  /** What it is doing now, in words; with `failed`, what happened and what to do. */
  detail: z.string(),
  /** 0 to 1; null while unknown. */
  progress: z.number().nullable(),
});

/** GPUs that work can run on, by the product's names, or their own where it lists none; empty: work runs on the CPU. */
const accelerators = z.array(
  z.object({ gpu_type: z.string(), label: z.string(), memory_bytes: z.number(), count: z.int() }),
);
const cpu = z.object({ cores: z.int(), memory_bytes: z.number() });

const machine = z.object({
  /** Of the machine and its cluster; of each type the most that one machine has. */
  accelerators,
  /** Whether text is served on GPUs: a machine has some, and vLLM has been prepared there. Else a CPU serves it. */
  serves_text_on_gpus: z.boolean(),
  cpu,
  preparations: z.array(preparation),
});

export type Machine = z.infer<typeof machine>;

export const getMachine = endpoint({
  method: 'GET',
  path: '/api/v1/machine',
  access: 'key',
  summary: "Get this server's hardware and what it is still preparing",
  response: machine,
});

/** The machine of the installation, or its cluster, for its operators. */
const listedMachine = z.object({
  machine_id: z.string(),
  name: z.string(),
  /** What starts workloads there. */
  driver: z.string(),
  /** Seen just now; one that is not gets no work. */
  is_present: z.boolean(),
  /** Null: its server has not run work yet. */
  last_seen_at: z.string().nullable(),
  /** When its server was started last. */
  started_at: z.string(),
  /** Why it starts nothing of what it is given, and gets little work; null: it does. */
  trouble: z.string().nullable(),
  /** Null until it has been seen. Slots are for work on the CPU. */
  offer: z.object({ cpu, run_slots: z.int(), deployment_slots: z.int(), accelerators }).nullable(),
});

export const listMachines = endpoint({
  method: 'GET',
  path: '/api/v1/operator/machines',
  access: 'operator',
  summary: 'List the machine and the cluster that run work',
  response: z.object({ machines: z.array(listedMachine) }),
});

/** What is on a machine, or waits for one. Its title, what it reads and what it is asked are its owner's. */
const work = z.object({
  /** Of a run: its run_id. */
  work_id: z.string(),
  /** A `model` is served for everybody, under `model_name`; deployments of it may be served along. */
  kind: z.enum(['run', 'text_deployment', 'image_deployment', 'text_model', 'image_model']),
  model_name: z.string().nullable(),
  /** How many deployments it is for, which may share one model server. */
  deployments: z.int(),
  /** That deployment, if it is one. */
  pod_id: z.string().nullable(),
  /** Whose it is; null: nobody's alone. */
  owner: z.object({ user_id: z.string(), username: z.string() }).nullable(),
  /** Null: it waits. */
  machine: z.string().nullable(),
  state: z.enum(['queued', 'starting', 'running', 'degraded', 'stopping']),
  /** One or two sentences; empty where the state says it all. */
  reason: z.string(),
  /** Its place in the line for such slots, from 1 on; null: it is in none. */
  position: z.int().nullable(),
  /** When it came into this state. */
  since: z.string(),
  /** The GPUs that it takes; null: one slot on the CPU. */
  gpus: z.object({ gpu_type: z.string(), label: z.string(), count: z.int() }).nullable(),
});

export type Work = z.infer<typeof work>;

export const listWork = endpoint({
  method: 'GET',
  path: '/api/v1/operator/work',
  access: 'operator',
  operation: 'load the queue',
  summary: 'List running and queued work',
  query: z.object({
    limit: z.coerce.number().int().min(1).max(200).default(50),
    cursor: z
      .string()
      .regex(/^\d{1,9}$/, 'cursor must be the next_cursor of an earlier page of this list')
      .optional(),
  }),
  response: z.object({
    work: z.array(work),
    /** How much there is in all. */
    on_machines: z.int(),
    waiting: z.int(),
    next_cursor: z.string().nullable(),
  }),
});
