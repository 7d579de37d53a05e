import * as z from 'zod';
import { endpoint } from '../endpoint.ts';
import { idOf } from '../fields/id.ts';
import { hubError } from './shared.ts';

/** Git LFS identifies content by SHA-256. */
const oid = z.string().regex(/^[0-9a-f]{64}$/, 'oid must be a SHA-256 in hexadecimal');
export const lfsObject = z.object({
  oid,
  size: z
    .int()
    .min(1)
    .max(2 ** 50),
});

/** `name` ends with `.git`. */
const repository = z.object({
  namespace: z.string().min(1).max(200),
  name: z.string().min(1).max(204),
});

export const lfsAction = z.object({ href: z.string(), header: z.record(z.string(), z.string()).optional() });
export const lfsBatch = z.object({
  operation: z.literal('upload', 'Files are downloaded from /resolve'),
  transfers: z.array(z.string()).optional(),
  objects: z.array(lfsObject).min(1).max(1000),
  /** Git LFS sends the first form, and the hub's JavaScript client the second. */
  hash_algo: z.enum(['sha256', 'sha_256']).optional(),
});
export const lfsTransfers = z.object({
  transfer: z.enum(['basic', 'multipart']),
  objects: z.array(
    z.object({
      ...lfsObject.shape,
      authenticated: z.literal(true),
      /** Absent if the caller already stores these bytes here. */
      actions: z.object({ upload: lfsAction, verify: lfsAction }).optional(),
    }),
  ),
});

const batch = {
  method: 'POST',
  access: 'key',
  params: repository,
  bodyBytesMax: 512 * 1024,
  body: lfsBatch,
  error: hubError,
  response: lfsTransfers,
} as const;

export const batchModelFiles = endpoint({
  ...batch,
  path: '/hub/:namespace/:name/info/lfs/objects/batch',
  summary: 'Start uploads of files of a model, as Git LFS does',
});

export const batchDatasetFiles = endpoint({
  ...batch,
  path: '/hub/datasets/:namespace/:name/info/lfs/objects/batch',
  summary: 'Start uploads of files of a dataset, as Git LFS does',
});

/** The last second of a date. */
const MAX_EXPIRES = 8_640_000_000_000;

/** URLs work without a key. They are signed for their upload, and end when the key is revoked. */
const signed = z.object({
  /** The owner of the upload. */
  by: z.string().min(1).max(200),
  /** The API key that requested the URL; absent if it was a browser session. */
  key_id: idOf('API key').optional(),
  /** Seconds since 1970. */
  expires: z.coerce.number().int().min(0).max(MAX_EXPIRES),
  signature: z.string().min(1).max(200),
});
const uploadParams = z.object({ uploadId: idOf('upload') });

export const putLfsPart = endpoint({
  method: 'PUT',
  path: '/hub/lfs/:uploadId/parts/:number',
  access: 'public',
  summary: 'Upload a part of a file, as Git LFS does',
  params: uploadParams.extend({ number: z.coerce.number().int().min(1).max(100_000) }),
  query: signed,
  upload: 'bytes',
  error: hubError,
  response: z.object({ sha256: z.string() }),
});

export const completeLfsUpload = endpoint({
  method: 'POST',
  path: '/hub/lfs/:uploadId/complete',
  access: 'public',
  summary: 'Complete a file that was uploaded in parts, as Git LFS does',
  params: uploadParams,
  query: signed,
  bodyBytesMax: 4 * 1024 * 1024,
  body: z.object({
    oid,
    parts: z.array(z.object({ partNumber: z.int(), etag: z.string() })).max(100_000),
  }),
  error: hubError,
  response: z.object({ success: z.literal(true) }),
});

export const verifyLfsObject = endpoint({
  method: 'POST',
  path: '/hub/lfs/verify',
  access: 'key',
  summary: 'Check that a file was uploaded, as Git LFS does',
  body: lfsObject,
  error: hubError,
  response: z.object({ success: z.literal(true) }),
});
