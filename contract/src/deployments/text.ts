import * as z from 'zod';
import { userId, userIdParams } from '../accounts.ts';
import { endpoint } from '../endpoint.ts';
import { countOfGpus } from '../fields/count-of-gpus.ts';
import { flag } from '../fields/flag.ts';
import { idOf } from '../fields/id.ts';
import { only } from '../fields/only.ts';
import { CONTEXT_TOKENS_MAX, CONTEXT_TOKENS_MIN, instanceTypes } from '../limits.ts';
import { bgl, bglInput } from '../money.ts';

/** States of a text deployment in the API. They are derived from the states of the engine. */
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

/** `running` is awake or starting, `sleeping` is asleep, and the others have ended. */
export const deploymentFilters = ['running', 'sleeping', 'failed', 'terminated'] as const;
export type DeploymentFilter = (typeof deploymentFilters)[number];

/** Filter, sort and paging fields of every deployment list. */
export const deploymentListFields = {
  /** Only deployments with this status. Includes ended ones if the status is theirs. */
  status: z.enum(deploymentFilters, `status must be one of ${deploymentFilters.join(', ')}`).optional(),
  /** Part of the deployment's or model's name. */
  search: z.string().trim().max(200, 'Search for at most 200 characters').optional(),
  /** Defaults to newest first. */
  sort: z.enum(['created', 'title'], 'sort must be created or title').optional(),
  limit: z.coerce.number().int().min(1).max(100).default(50),
  cursor: idOf('deployment').optional(),
};

export const logLines = z.object({ lines: z.array(z.object({ at: z.string(), line: z.string() })) });
/**
 * Minutes without a request after which it sleeps at no cost until the next request. Null if it never sleeps.
 */
const sleepsAfterMinutes = z.number().nullable();

export const deployment = z.object({
  pod_id: z.string(),
  deployment_id: z.string(),
  /** Asset id of the served model, and its `model` name in OpenAI-style calls. */
  model_id: z.string(),
  model_name: z.string(),
  title: z.string(),
  base_model_title: z.string(),
  /** What the model returns: answers or embeddings. */
  task: z.enum(['text', 'embedding']),
  status: z.enum(deploymentStates),
  /**
   * `Running` if the deployment accepts requests, even if it is asleep. `Pending` while it starts. Null if it
   * has ended or is ending.
   */
  job_status: z.enum(['Running', 'Pending']).nullable(),
  /** Why it is in this status. */
  reason: z.string(),
  /** Why the server stopped it: the credits or the API key's budget were used up. Null otherwise. */
  stop_reason: z.enum(['credits', 'budget']).nullable(),
  /** 0 to 100 while starting. */
  progress: z.number(),
  instance_type: z.string(),
  device: z.string(),
  /** Maximum tokens of a request including its answer. */
  context_tokens: z.int(),
  /** True if chats with it may contain pictures. */
  vision: z.boolean(),
  created_at: z.string(),
  ready_at: z.string().nullable(),
  last_request_at: z.string().nullable(),
  terminated_at: z.string().nullable(),
  /** Price of one replica. */
  price_per_hour: bgl,
  auto_scale: z.boolean(),
  min_replicas: z.int(),
  max_replicas: z.int(),
  /** Number of replicas wanted now. */
  replicas: z.int(),
  cost_so_far: bgl,
  sleeps_after_minutes: sleepsAfterMinutes,
});

export type Deployment = z.infer<typeof deployment>;

const REPLICAS_MAX = 8;

const podIdParams = z.object({ podId: idOf('deployment') });

/** Fields for deploying a model; defaults follow the specification. */
export const deployFields = {
  user_id: userId,
  gpu_count: countOfGpus.default(1),
  instance_type: z.enum(instanceTypes).default('a100'),
  /** True to use several replicas, or to never sleep. Otherwise one replica runs, and sleeps while idle. */
  auto_scale: z.boolean().default(false),
  /** If it is 1 or more, the deployment never sleeps. Must be 1 without `auto_scale`. */
  min_replicas: z.int().min(0).max(REPLICAS_MAX).default(1),
  /** Each running replica costs the hourly price. Must be 1 without `auto_scale`. */
  max_replicas: z.int().min(1).max(REPLICAS_MAX).default(1),
};

const asked = {
  /** Asset id of the model. */
  model_id: idOf('model'),
  ...deployFields,
};

/**
 * The quoted `price_per_hour` in BGL. If the price is higher now, the call is rejected with the new price.
 */
export const hourCostMax = bglInput.optional();

export const deploymentQuote = z.object({
  /** The device on which it would run. */
  device: z.string(),
  /** Price of one replica while awake. */
  price_per_hour: bgl,
  /** Price of `min_replicas`, which is the minimum while awake. If that is 0, the price of one replica. */
  min_price_per_hour: bgl,
  /** Price of `max_replicas`, the maximum. */
  max_price_per_hour: bgl,
  /** Credits held at the start: one hour of one replica. */
  hold: bgl,
  sleeps_after_minutes: sleepsAfterMinutes,
});

/** Fields for serving a text or embedding model. */
const askedText = {
  ...asked,
  /** Maximum tokens of a request with its answer. Defaults to 8,192, or less for the model or memory. */
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
    /** The model's maximum; null if unknown. */
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
    /** Only deployments of this model. */
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
  response: logLines,
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
        /** In milliseconds; null for a minute without requests. */
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
  /** May be sent here or in the body. */
  query: z.object({ user_id: userId.optional() }),
  body: only({ user_id: userId.optional() }).nullish(),
  response: deployment,
});
