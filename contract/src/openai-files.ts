import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { flatId } from './fields/flat-id.ts';
import { only } from './fields/only.ts';

/** OpenAI's Files API. A file is a dataset with one file, visible in both APIs. */
const uploadPurposes = ['fine-tune', 'batch'] as const;

/** Maximum files per page; clients page automatically. */
const FILES_PER_PAGE_MAX = 10_000;

export const fileId = flatId('file-', 'file');

export const openAiFile = z.object({
  id: z.string(),
  object: z.literal('file'),
  bytes: z.int(),
  created_at: z.int(),
  /** Files never expire. */
  expires_at: z.null(),
  filename: z.string(),
  /** `fine-tune-results` are a run's metrics as CSV. */
  purpose: z.enum([...uploadPurposes, 'batch_output', 'fine-tune-results']),
  status: z.literal('processed'),
});

export type OpenAiFile = z.infer<typeof openAiFile>;

const fileParams = z.object({ file_id: fileId });

/** The other parts of the form besides the file. */
export const createFileFields = only({
  purpose: z.enum(
    uploadPurposes,
    `purpose must be one of ${uploadPurposes.join(', ')}: this server keeps no files for anything else`,
  ),
});

export const createFile = endpoint({
  method: 'POST',
  path: '/v1/files',
  access: 'key',
  summary: 'Upload a JSON Lines file, as a private dataset (OpenAI-compatible)',
  upload: { part: 'file', fields: createFileFields },
  response: openAiFile,
});

export const listFiles = endpoint({
  method: 'GET',
  path: '/v1/files',
  access: 'key',
  summary: 'List files: the datasets with one file (OpenAI-compatible)',
  query: only({
    purpose: z.enum([...uploadPurposes, 'batch_output']).optional(),
    order: z.enum(['asc', 'desc']).default('desc'),
    limit: z.coerce.number().int().min(1).max(FILES_PER_PAGE_MAX).default(1000),
    after: fileId.optional(),
  }),
  response: z.object({
    object: z.literal('list'),
    data: z.array(openAiFile),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  }),
});

export const getFile = endpoint({
  method: 'GET',
  path: '/v1/files/:file_id',
  access: 'key',
  summary: 'Get a file (OpenAI-compatible)',
  params: fileParams,
  response: openAiFile,
});

export const getFileContent = endpoint({
  method: 'GET',
  path: '/v1/files/:file_id/content',
  access: 'key',
  summary: 'Download a file (OpenAI-compatible)',
  params: fileParams,
  answers: { 'application/octet-stream': null },
});

export const deleteOpenAiFile = endpoint({
  method: 'DELETE',
  path: '/v1/files/:file_id',
  access: 'key',
  summary: 'Delete a file with its dataset (OpenAI-compatible)',
  params: fileParams,
  response: z.object({ id: z.string(), object: z.literal('file'), deleted: z.literal(true) }),
});
