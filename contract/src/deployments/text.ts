import * as z from 'zod';
import { userId, userIdParams } from '../accounts.ts';
import { endpoint } from '../endpoint.ts';
import { countOfGpus } from '../fields/count-of-gpus.ts';
import { flag } from '../fields/flag.ts';
import { idOf } from '../fields/id.ts';
import { only } from '../fields/only.ts';
import { CONTEXT_TOKENS_MAX, CONTEXT_TOKENS_MIN, instanceTypes } from '../limits.ts';
import { bgl, bglInput } from '../money.ts';

/** The words that the wire shows for a text deployment; the engine's own states map to them in one table. */
const deploymentStates = [
  'queued',
  'deploying',
  'running',
  'sleeping',
  'degraded',
  'stopping',
  'terminated',
  'failed',
] as const;

/** Awake or on its way there, asleep, or how it has ended. */
export const deploymentFilters = ['running', 'sleeping', 'failed', 'terminated'] as const;
export type DeploymentFilter = (typeof deploymentFilters)[number];

/** Only those that have not ended, or have within the last hour, whoever ended them. */
export const recentDeployments = flag.optional();
/** What every list of deployments is narrowed, sorted and paged by. */
export const deploymentListFields = {
  /** Only those that are so; ended ones are among them where they are asked for. */
  status: z.enum(deploymentFilters, `status must be one of ${deploymentFilters.join(', ')}`).optional(),
  /** Part of the name of the deployment or of its model. */
  search: z.string().trim().max(200, 'Search for at most 200 characters').optional(),
  /** The newest first unless by title. */
  sort: z.enum(['created', 'title'], 'sort must be created or title').optional(),
  limit: z.coerce.number().int().min(1).max(100).default(50),
  cursor: idOf('deployment').optional(),
};

/** After so long without a request it sleeps and costs nothing, until the next one wakes it. Null: it never sleeps. */
const sleepsAfterMinutes = z.number().nullable();

export const deployment = z.object({
  pod_id: z.string(),
  deployment_id: z.string(),
  /** Asset id of the served model, and its name for `model` in the OpenAI-style calls. */
  model_id: z.string(),
  model_name: z.string(),
  title: z.string(),
  base_model_title: z.string(),
  /** What it makes: answers, or vectors of the embeddings call. */
  task: z.enum(['text', 'embedding']),
  status: z.enum(deploymentStates),
  /** `Running`: it answers, or wakes to; `Pending`: it is on its way there. Null once it has ended, or does. */
  job_status: z.enum(['Running', 'Pending']).nullable(),
  /** Why, in words. */
  reason: z.string(),
  /** Why it was stopped, where not by its owner: for want of credits, or at the budget of its API key. Null: none of these. */
  stop_reason: z.enum(['credits', 'budget']).nullable(),
  /** 0 to 100 on the way to running. */
  progress: z.number(),
  instance_type: z.string(),
  device: z.string(),
  /** How many tokens a request may have, with its answer. */
  context_tokens: z.int(),
  created_at: z.string(),
  ready_at: z.string().nullable(),
  last_request_at: z.string().nullable(),
  terminated_at: z.string().nullable(),
  /** Of one replica. */
  price_per_hour: bgl,
  auto_scale: z.boolean(),
  min_replicas: z.int(),
  max_replicas: z.int(),
  /** How many are wanted now. */
  replicas: z.int(),
  cost_so_far: bgl,
  sleeps_after_minutes: sleepsAfterMinutes,
});

export type Deployment = z.infer<typeof deployment>;

const REPLICAS_MAX = 8;

const podIdParams = z.object({ podId: idOf('deployment') });

/** What is asked for when a model is served; the fields' defaults are the specification's. */
export const deployFields = {
  user_id: userId,
  gpu_count: countOfGpus.default(1),
  instance_type: z.enum(instanceTypes).default('a100'),
  /** With replicas, or awake all the time. Without it there is one replica, which sleeps while nobody asks it anything. */
  auto_scale: z.boolean().default(false),
  /** It never sleeps where this is 1 or more. 1 without `auto_scale`. */
  min_replicas: z.int().min(0).max(REPLICAS_MAX).default(1),
  /** Each one that runs costs the price per hour. 1 without `auto_scale`. */
  max_replicas: z.int().min(1).max(REPLICAS_MAX).default(1),
};

const asked = {
  /** Asset id of the model. */
  model_id: idOf('model'),
  ...deployFields,
};

/** In BGL, the `price_per_hour` that was quoted: where an hour costs more by now, it is refused with the new price. */
export const hourCostMax = bglInput.optional();

export const deploymentQuote = z.object({
  /** Where it would run. */
  device: z.string(),
  /** Of one replica, while it answers. */
  price_per_hour: bgl,
  /** Of `min_replicas`: it costs this at least while it is awake, and one replica's price where that is 0. */
  min_price_per_hour: bgl,
  /** Of `max_replicas`: it never costs more. */
  max_price_per_hour: bgl,
  /** What is held at the start: an hour of one replica. */
  hold: bgl,
  sleeps_after_minutes: sleepsAfterMinutes,
});

/** What is asked for when a text or embedding model is served. */
const askedText = {
  ...asked,
  /** How many tokens a request may have, with its answer: 8,192 unless given, or what the model was made for or the memory has room for, if that is less. */
  context_tokens: z.int().min(CONTEXT_TOKENS_MIN).max(CONTEXT_TOKENS_MAX).optional(),
};

export const deployVllm = endpoint({
  method: 'POST',
  path: '/api/v1/model/deployment/vllm',
  access: 'key',
  summary: 'Deploy a text model or an embedding model',
  spends: true,
  body: only({ ...askedText, cost_max: hourCostMax }),
  response: z.object({ pod_id: z.string(), deployment_id: z.string() }),
});

export const quoteVllm = endpoint({
  method: 'POST',
  path: '/api/v1/model/deployment/vllm/quote',
  access: 'key',
  summary: 'Quote a text deployment',
  body: only(askedText),
  response: deploymentQuote.extend({
    context_tokens: z.int(),
    /** The most that the model was made for; null where its files do not say. */
    context_tokens_max: z.int().nullable(),
  }),
});

export const listVllm = endpoint({
  method: 'GET',
  path: '/api/v1/deployments/vllm/user/:userId',
  access: 'key',
  summary: 'List text deployments, newest first unless sorted by name',
  params: userIdParams,
  query: z.object({
    include_terminated: flag.default(false),
    recent: recentDeployments,
    /** Only those that serve this model. */
    model_id: idOf('model').optional(),
    ...deploymentListFields,
  }),
  response: z.object({ pods: z.array(deployment), next_cursor: z.string().nullable() }),
});

export const vllmStats = endpoint({
  method: 'GET',
  path: '/api/v1/deployments/vllm/user/:userId/stats',
  access: 'key',
  summary: 'Get totals over all text deployments',
  params: userIdParams,
  response: z.object({
    total: z.int(),
    running: z.int(),
    sleeping: z.int(),
    deploying: z.int(),
    failed: z.int(),
    requests: z.int(),
    prompt_tokens: z.number(),
    completion_tokens: z.number(),
    cost: bgl,
  }),
});

export const vllmStatus = endpoint({
  method: 'GET',
  path: '/api/v1/deployments/vllm/:podId/status',
  access: 'key',
  summary: 'Get a text deployment',
  params: podIdParams,
  response: deployment,
});

export const vllmProgress = endpoint({
  method: 'GET',
  path: '/api/v1/deployments/vllm/:podId/progress',
  access: 'key',
  summary: 'Get deployment progress',
  params: podIdParams,
  response: z.object({
    pod_id: z.string(),
    progress: z.number(),
    phase: z.string(),
    status: z.enum(deploymentStates),
  }),
});

export const vllmLogs = endpoint({
  method: 'GET',
  path: '/api/v1/deployments/vllm/:podId/logs',
  access: 'key',
  summary: 'Get the last log lines of a text deployment',
  params: podIdParams,
  query: z.object({ limit: z.coerce.number().int().min(1).max(1000).default(200) }),
  response: z.object({ lines: z.array(z.object({ at: z.string(), line: z.string() })) }),
});

export const vllmMetrics = endpoint({
  method: 'GET',
  path: '/api/v1/deployments/vllm/:podId/metrics',
  access: 'key',
  summary: 'Get requests, latency and tokens per second, by minute',
  params: podIdParams,
  query: z.object({ minutes: z.coerce.number().int().min(1).max(1440).default(60) }),
  response: z.object({
    points: z.array(
      z.object({
        at: z.string(),
        requests: z.int(),
        errors: z.int(),
        prompt_tokens: z.number(),
        completion_tokens: z.number(),
        /** Milliseconds; null in a minute without requests. */
        time_to_first_token_ms_p50: z.number().nullable(),
        latency_ms_p50: z.number().nullable(),
        latency_ms_p95: z.number().nullable(),
        tokens_per_second: z.number().nullable(),
      }),
    ),
  }),
});

export const terminatePod = endpoint({
  method: 'POST',
  path: '/api/v1/model/pod/:podId/terminate',
  access: 'key',
  summary: 'Terminate a text deployment and settle its bill',
  params: podIdParams,
  /** Here or in the body. */
  query: z.object({ user_id: userId.optional() }),
  body: only({ user_id: userId.optional() }).nullish(),
  response: deployment,
});
