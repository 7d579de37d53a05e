import * as z from 'zod';
import { assetFile } from './assets.ts';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';

/**
 * Multipart uploads: parts can be sent in any order and in parallel, and an interrupted upload can be
 * resumed.
 */

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'A SHA-256 has 64 digits, 0 to 9 and a to f');

const assetParams = z.object({ id: idOf('dataset or model') });
const uploadParams = assetParams.extend({ uploadId: idOf('upload') });

export const uploadPart = z.object({ number: z.int(), sha256: z.string(), size_bytes: z.int() });

const upload = z.object({
  upload_id: z.string(),
  path: z.string(),
  size_bytes: z.number(),
  /** Size of every part except the last. Parts are numbered from 1. */
  part_bytes: z.int(),
  part_count: z.int(),
  /** True once the server has all bytes and the upload can be completed. */
  is_whole: z.boolean(),
  /** Total size of the received parts. */
  received_bytes: z.number(),
  created_at: z.string(),
});

export const assetUpload = upload.extend({
  /** The received parts. */
  parts: z.array(uploadPart),
});
export type AssetUpload = z.infer<typeof assetUpload>;

export const getUploadLimits = endpoint({
  method: 'GET',
  path: '/api/v1/upload_limits',
  access: 'key',
  summary: 'Get the maximum file size',
  response: z.object({ file_bytes_max: z.number() }),
});

/** While an upload is unfinished, a call with the same path, size and hash returns it again. */
export const createUpload = endpoint({
  method: 'POST',
  path: '/api/v1/asset/:id/uploads',
  access: 'key',
  operation: 'upload the file',
  summary: 'Start or resume an upload in parts',
  params: assetParams,
  body: only({
    path: z
      .string()
      .min(1, 'The file needs a path')
      .describe(
        'Path of the file, such as `transformer/config.json`. Relative, with `/` between its folders, without empty ' +
          'parts, `.` and `..`; at most 255 bytes between two `/` and 1024 in all.',
      ),
    size_bytes: z
      .int()
      .min(1, 'The file is empty')
      .max(2 ** 50, 'The file is too large'),
    sha256: sha256
      .nullish()
      .describe(
        'Hash of the whole file. The server verifies it, and skips the upload of bytes that you have already stored.',
      ),
  }),
  response: assetUpload,
});

export const listUploads = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/uploads',
  access: 'key',
  summary: 'List unfinished uploads',
  params: assetParams,
  response: z.object({ uploads: z.array(upload) }),
});

export const getUpload = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/uploads/:uploadId',
  access: 'key',
  summary: 'Get an upload with its parts',
  params: uploadParams,
  response: assetUpload,
});

export const putUploadPart = endpoint({
  method: 'PUT',
  path: '/api/v1/asset/:id/uploads/:uploadId/parts/:number',
  access: 'key',
  operation: 'upload the file',
  summary: 'Upload a part; a part that was already uploaded is not stored again',
  params: uploadParams.extend({
    number: z.coerce.number('Parts are numbered from 1').int('Parts are numbered from 1'),
  }),
  query: z.object({ sha256: sha256.describe('Hash of the bytes of the part.') }),
  upload: 'bytes',
  response: uploadPart,
});

export const completedUpload = z.object({ file: assetFile.nullable(), revision_id: z.string().nullable() });

/** Returns 202 without the file while the server processes it. Repeat the call until it returns the file. */
export const completeUpload = endpoint({
  method: 'POST',
  path: '/api/v1/asset/:id/uploads/:uploadId/complete',
  access: 'key',
  operation: 'upload the file',
  summary: 'Add the uploaded file in a new version',
  params: uploadParams,
  response: completedUpload,
  pendingStatus: 202,
});

export const abandonUpload = endpoint({
  method: 'DELETE',
  path: '/api/v1/asset/:id/uploads/:uploadId',
  access: 'key',
  operation: 'cancel the upload',
  summary: 'Cancel an upload and delete its parts',
  params: uploadParams,
  status: 204,
});
