import * as z from 'zod';
import { unknownParameter } from './chat.ts';
import { endpoint } from './endpoint.ts';
import { flatId } from './fields/flat-id.ts';
import { metadata } from './fields/metadata.ts';
import { only } from './fields/only.ts';
import { bgl } from './money.ts';
import { fileId } from './openai-files.ts';

/** OpenAI's batch API. The requests in a file are answered within a day, at a lower priority and price. */
const batchEndpoints = ['/v1/chat/completions', '/v1/embeddings', '/v1/responses'] as const;
export type BatchEndpoint = (typeof batchEndpoints)[number];

export const BATCH_LINES_MAX = 50_000;
export const BATCH_BYTES_MAX = 100 * 1024 * 1024;

const batchId = flatId('batch_', 'batch');
const batchParams = z.object({ batch_id: batchId });
const instant = z.int().nullable();

export const batch = z.object({
  id: z.string(),
  object: z.literal('batch'),
  endpoint: z.enum(batchEndpoints),
  model: z.string(),
  /** Always null, because creating a batch rejects a file with invalid lines. */
  errors: z.null(),
  input_file_id: z.string(),
  completion_window: z.literal('24h'),
  status: z.enum(['in_progress', 'finalizing', 'cancelling', 'completed', 'cancelled', 'expired']),
  /** Files with the answers, and with the requests that failed or were not reached in time. Null if empty. */
  output_file_id: z.string().nullable(),
  error_file_id: z.string().nullable(),
  created_at: z.int(),
  in_progress_at: instant,
  expires_at: z.int(),
  finalizing_at: instant,
  completed_at: instant,
  failed_at: z.null(),
  expired_at: instant,
  cancelling_at: instant,
  cancelled_at: instant,
  request_counts: z.object({ total: z.int(), completed: z.int(), failed: z.int() }),
  metadata: z.record(z.string(), z.string()).nullable(),
  /** BGL held while it runs, and its current cost. */
  held: bgl,
  cost_so_far: bgl,
});

export type Batch = z.infer<typeof batch>;

export const createBatch = endpoint({
  method: 'POST',
  path: '/v1/batches',
  access: 'key',
  spends: true,
  summary: 'Create a batch of requests (OpenAI-compatible)',
  body: z
    .object({
      /** A JSON Lines file with purpose batch: `custom_id`, `method`, `url` and `body` of each request. */
      input_file_id: fileId,
      endpoint: z.enum(batchEndpoints, `endpoint must be one of ${batchEndpoints.join(', ')}`),
      completion_window: z.literal('24h', "completion_window must be '24h'"),
      metadata: metadata.nullish(),
    })
    .catchall(unknownParameter),
  response: batch,
});

export const listBatches = endpoint({
  method: 'GET',
  path: '/v1/batches',
  access: 'key',
  summary: 'List batches, newest first (OpenAI-compatible)',
  query: only({ limit: z.coerce.number().int().min(1).max(100).default(20), after: batchId.optional() }),
  response: z.object({
    object: z.literal('list'),
    data: z.array(batch),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  }),
});

export const getBatch = endpoint({
  method: 'GET',
  path: '/v1/batches/:batch_id',
  access: 'key',
  summary: 'Get a batch (OpenAI-compatible)',
  params: batchParams,
  response: batch,
});

export const cancelBatch = endpoint({
  method: 'POST',
  path: '/v1/batches/:batch_id/cancel',
  access: 'key',
  summary: 'Cancel a batch: received answers are kept and charged (OpenAI-compatible)',
  params: batchParams,
  response: batch,
});
