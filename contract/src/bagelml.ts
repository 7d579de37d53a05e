import * as z from 'zod';
import { user, userId, userIdParams } from './accounts.ts';
import { apiKeyWithSecret } from './api-keys.ts';
import { assetFile } from './assets.ts';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { nameText } from './fields/text.ts';
import { KEY_NAME_LENGTH_MAX } from './limits.ts';
import { runStates } from './runs.ts';

/*
 * Calls that only the original product's public clients make: `bagelml` on npm and PyPI. If a client ignores
 * the answer, the answer has this product's format.
 */

const modelIdParams = z.object({ modelId: idOf('model') });
const filePath = z.string().min(1);

/** A run, in these clients' format of a fine-tune. */
export const bagelmlJob = z.object({
  job_id: z.string(),
  /** The resulting model. */
  asset_id: z.string(),
  model_name: z.string(),
  created_by: z.string(),
  status: z.enum(runStates),
  /** Why it is in this state. */
  reason: z.string(),
  /** 0 to 100. */
  progress: z.number(),
  /** Asset ids. */
  base_model: z.string(),
  dataset_id: z.string(),
  file_name: z.string(),
  created_at: z.string(),
  started_at: z.string().nullable(),
  ended_at: z.string().nullable(),
});

export type Job = z.infer<typeof bagelmlJob>;

export const ping = endpoint({
  method: 'GET',
  path: '/api/v1',
  access: 'public',
  summary: 'Heartbeat: the server time in nanoseconds',
  response: z.object({ 'nanosecond heartbeat': z.number() }),
});

export const getVersion = endpoint({
  method: 'GET',
  path: '/api/v1/version',
  access: 'public',
  summary: 'Get the API version',
  response: z.string(),
});

export const getUser = endpoint({
  method: 'GET',
  path: '/api/v1/user',
  access: 'key',
  summary: 'Get the user id of the API key',
  query: z.object({ userId }),
  response: user,
});

/** Authenticated by a key in the body, because the npm client sends it there. */
export const createClientKey = endpoint({
  method: 'POST',
  path: '/api/v1/api_keys',
  access: 'public',
  summary: "Create an API key, authorised by the web app's key in `api_key` or the header",
  body: z.object({
    name: nameText(KEY_NAME_LENGTH_MAX),
    api_key: z.string().max(1_000).default(''),
    userId,
  }),
  response: apiKeyWithSecret.extend({ data: z.string() }),
});

export const listColumnNames = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/:fileName/get_column_names',
  access: 'key',
  summary: 'List the column names of a data file',
  params: z.object({ id: idOf('dataset or model'), fileName: filePath }),
  response: z.array(z.string()),
});

export const listJobs = endpoint({
  method: 'GET',
  path: '/api/v1/jobs/created_by/:userId',
  access: 'key',
  summary: 'List the latest 100 fine-tunes',
  params: userIdParams,
  response: z.array(bagelmlJob),
});

export const getJob = endpoint({
  method: 'GET',
  path: '/api/v1/jobs/:jobId',
  access: 'key',
  summary: 'Get a fine-tune',
  params: z.object({ jobId: idOf('job') }),
  response: bagelmlJob,
});

export const getJobOfModel = endpoint({
  method: 'GET',
  path: '/api/v1/jobs/asset/:modelId',
  access: 'key',
  summary: 'Get the fine-tune of a model',
  params: modelIdParams,
  response: bagelmlJob,
});

export const listModelFiles = endpoint({
  method: 'GET',
  path: '/api/v1/jobs/asset/:modelId/files',
  access: 'key',
  summary: 'List the first 1000 files of a model',
  params: modelIdParams,
  response: z.array(assetFile),
});

const modelFile = {
  method: 'GET',
  access: 'key',
  summary: 'Download a model file',
  answers: { '*/*': null },
  params: modelIdParams.extend({ '*': filePath }),
} as const;

export const downloadModelFile = endpoint({ ...modelFile, path: '/api/v1/jobs/asset/:modelId/files/*' });

/** The npm client sends the prefix twice. */
export const downloadModelFilePrefixedTwice = endpoint({
  ...modelFile,
  path: '/api/v1/api/v1/jobs/asset/:modelId/files/*',
});

export const downloadFileOfJob = endpoint({
  method: 'GET',
  path: '/api/v1/jobs/:jobId/files/*',
  access: 'key',
  summary: 'Download a file of a fine-tuned model',
  answers: { '*/*': null },
  params: z.object({ jobId: idOf('job'), '*': filePath }),
});

export const downloadModel = endpoint({
  method: 'GET',
  path: '/api/v1/jobs/asset/:modelId/download',
  access: 'key',
  summary: 'Download all files of a model as a zip',
  answers: { 'application/zip': null },
  params: modelIdParams,
});
