import * as z from 'zod';
import { publicUser } from './accounts.ts';
import { endpoint } from './endpoint.ts';

/**
 * One step of the preparation that runs in the background after a start: the environment or a starter model.
 */
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
  /** What the step is doing. If it has failed: what happened, and how to fix it. */
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
  /** GPUs of the machine and its cluster; for each type, the largest number on one machine. */
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

/** The server's machine or its cluster, for operators. */
export const listedMachine = z.object({
  machine_id: z.string(),
  name: z.string(),
  /** The driver that starts workloads. */
  driver: z.string(),
  /** True if the machine was seen recently. Other machines get no work. */
  is_present: z.boolean(),
  /** Null if its server has not run work yet. */
  last_seen_at: z.string().nullable(),
  /** When its server last started. */
  started_at: z.string(),
  /** Why starting workloads fails on the machine, so that it gets little work; null if it works. */
  trouble: z.string().nullable(),
  /** Null until the machine was seen for the first time. Slots are for CPU work. */
  offer: z.object({ cpu, run_slots: z.int(), deployment_slots: z.int(), accelerators }).nullable(),
});

export const listMachines = endpoint({
  method: 'GET',
  path: '/api/v1/operator/machines',
  access: 'operator',
  summary: 'List the machine and the cluster that run work',
  response: z.object({ machines: z.array(listedMachine) }),
});

/** Running or queued work. Does not contain its title and data, which only its owner may read. */
export const work = z.object({
  /** For a run, its run_id. */
  work_id: z.string(),
  /** A `model` is a model server that serves all users as `model_name`, perhaps also deployments of it. */
  kind: z.enum(['run', 'text_deployment', 'image_deployment', 'text_model', 'image_model']),
  model_name: z.string().nullable(),
  /** Number of deployments that share the model server. */
  deployments: z.int(),
  /** Id of the deployment, if the work serves exactly one. */
  pod_id: z.string().nullable(),
  /** The owner; null if several users share the work. */
  owner: publicUser.nullable(),
  /** Name of the machine; null while the work waits. */
  machine: z.string().nullable(),
  state: z.enum(['queued', 'starting', 'running', 'degraded', 'stopping']),
  /** Explanation of the state; empty if the state needs none. */
  reason: z.string(),
  /** Position in the queue, from 1; null if the work is not queued. */
  position: z.int().nullable(),
  /** When the work entered this state. */
  since: z.string(),
  /** GPUs of the work; null if it uses a CPU slot. */
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
