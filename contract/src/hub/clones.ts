import * as z from 'zod';
import { userId, userIdParams } from '../accounts.ts';
import { endpoint } from '../endpoint.ts';
import { idOf } from '../fields/id.ts';
import { repoId } from './public.ts';

/** The states of the original product, with more detail while the clone runs. */
const cloneStates = ['QUEUED', 'LISTING', 'COPYING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const;
export type CloneState = (typeof cloneStates)[number];

const clonedTypes = ['RAW', 'MODEL'] as const;

/** Maximum number of log lines in a clone's status, newest last. The logs of the clone contain more. */
export const STATUS_LINES_MAX = 20;
export const LOG_LINES_MAX = 1_000;

export const hubClone = z.object({
  id: z.string(),
  repo_id: z.string(),
  dataset_type: z.enum(clonedTypes),
  /** Id of the commit that is copied. Stays the same if the branch gets new commits. */
  revision: z.string(),
  status: z.enum(cloneStates),
  /** Why it is in this state. */
  reason: z.string(),
  /** 0 to 100, by bytes. */
  progress: z.number(),
  /** Null until the files are listed. */
  files_total: z.int().nullable(),
  files_done: z.int(),
  bytes_total: z.number().nullable(),
  bytes_done: z.number(),
  /** Speed over the last seconds while copying; null before. */
  bytes_per_second: z.number().nullable(),
  /** The new dataset or model. Null until it exists, and after it was deleted. */
  asset_id: z.string().nullable(),
  created_at: z.string(),
  started_at: z.string().nullable(),
  ended_at: z.string().nullable(),
});
export type Clone = z.infer<typeof hubClone>;

/**
 * Copies a repository's files to a dataset or model in the background. An equal call returns the same clone.
 */
export const startClone = endpoint({
  method: 'POST',
  path: '/api/v1/huggingface/clone',
  access: 'key',
  operation: 'clone the repository',
  summary: 'Clone a repository of the public hub in the background',
  query: z.object({ repo_id: repoId, dataset_type: z.enum(clonedTypes), user_id: userId }),
  status: 202,
  response: hubClone,
});

const cloneParams = z.object({ id: idOf('clone') });

const filesCopyingLogs = z.array(z.string());

/** The status in the original product's format. */
export const cloneStatus = endpoint({
  method: 'GET',
  path: '/huggingface/clone-status/:id',
  access: 'key',
  operation: 'read the clone',
  summary: "Get a clone's status, progress and latest log lines",
  params: cloneParams,
  response: hubClone.extend({ files_copying_logs: filesCopyingLogs }),
});

export const cloneLogs = endpoint({
  method: 'GET',
  path: '/huggingface/clone-logs/:id',
  access: 'key',
  operation: "read the clone's log",
  summary: "Get the last 1,000 lines of a clone's log",
  params: cloneParams,
  response: z.object({ files_copying_logs: filesCopyingLogs }),
});

export const listClones = endpoint({
  method: 'GET',
  path: '/api/v1/users/:userId/huggingface-clones',
  access: 'key',
  operation: 'list your clones',
  summary: 'List clones, newest first',
  params: userIdParams,
  query: z.object({
    cursor: idOf('clone').optional(),
    limit: z.coerce.number().int().min(1).max(100).default(20),
  }),
  response: z.object({ clones: z.array(hubClone), next_cursor: z.string().nullable() }),
});

export const cancelClone = endpoint({
  method: 'POST',
  path: '/api/v1/huggingface/clones/:id/cancel',
  access: 'key',
  operation: 'cancel the clone',
  summary: 'Cancel a clone and delete the copied files',
  params: cloneParams,
  response: hubClone,
});

export const retryClone = endpoint({
  method: 'POST',
  path: '/api/v1/huggingface/clones/:id/retry',
  access: 'key',
  operation: 'try the clone again',
  summary: 'Retry a failed or cancelled clone; a failed clone continues with the copied files',
  params: cloneParams,
  response: hubClone,
});
