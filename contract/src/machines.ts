import * as z from 'zod';
import { publicUser } from './accounts.ts';
import { endpoint } from './endpoint.ts';

/** One background preparation step after start: the environment or a starter model. */
export const preparation = z.object({
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
  /** Current activity; with `failed`, what happened and how to fix it. */
  detail: z.string(),
  /** 0 to 1; null while unknown. */
  progress: z.number().nullable(),
});

/** Available GPUs, with the product's names or the driver's; empty if work runs on the CPU. */
export const accelerator = z.object({
  ...{ gpu_type: z.string(), label: z.string(), memory_bytes: z.number(), count: z.int() },
});
const accelerators = z.array(accelerator);
export const cpu = z.object({ cores: z.int(), memory_bytes: z.number() });

export const machine = z.object({
  /** Of the machine and its cluster; for each type the maximum per machine. */
  accelerators,
  /** Whether text is served on GPUs, which needs vLLM to be prepared. Otherwise a CPU serves it. */
  serves_text_on_gpus: z.boolean(),
  cpu,
  preparations: z.array(preparation),
});

export type Machine = z.infer<typeof machine>;

export const getMachine = endpoint({
  method: 'GET',
  path: '/api/v1/machine',
  access: 'key',
  summary: "Get this server's hardware and its pending preparations",
  response: machine,
});

/** The installation's machine or its cluster, for operators. */
export const listedMachine = z.object({
  machine_id: z.string(),
  name: z.string(),
  /** The driver that starts workloads. */
  driver: z.string(),
  /** Recently seen; other machines get no work. */
  is_present: z.boolean(),
  /** Null if its server has not run work yet. */
  last_seen_at: z.string().nullable(),
  /** When its server last started. */
  started_at: z.string(),
  /** Why it fails to start workloads and gets little work; null if it works. */
  trouble: z.string().nullable(),
  /** Null until seen. Slots are for CPU work. */
  offer: z.object({ cpu, run_slots: z.int(), deployment_slots: z.int(), accelerators }).nullable(),
});

export const listMachines = endpoint({
  method: 'GET',
  path: '/api/v1/operator/machines',
  access: 'operator',
  summary: 'List the machine and the cluster that run work',
  response: z.object({ machines: z.array(listedMachine) }),
});

/** Running or queued work. Without its title and data, which are its owner's. */
export const work = z.object({
  /** For a run its run_id. */
  work_id: z.string(),
  /** A `model` serves all users as `model_name`; deployments of it may share its server. */
  kind: z.enum(['run', 'text_deployment', 'image_deployment', 'text_model', 'image_model']),
  model_name: z.string().nullable(),
  /** Number of deployments that share the model server. */
  deployments: z.int(),
  /** The id of a single deployment. */
  pod_id: z.string().nullable(),
  /** The single owner; null if it is shared. */
  owner: publicUser.nullable(),
  /** Null while it waits. */
  machine: z.string().nullable(),
  state: z.enum(['queued', 'starting', 'running', 'degraded', 'stopping']),
  /** One or two sentences; empty if the state is self-explanatory. */
  reason: z.string(),
  /** Queue position from 1; null if not queued. */
  position: z.int().nullable(),
  /** When it entered this state. */
  since: z.string(),
  /** Its GPUs; null for a CPU slot. */
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
    /** Totals. */
    on_machines: z.int(),
    waiting: z.int(),
    next_cursor: z.string().nullable(),
  }),
});
