import * as z from 'zod';
import { endpoint } from '../endpoint.ts';
import { hubError, revisionParams } from './shared.ts';

/** Maximum files per call. */
const FILES_AT_ONCE_MAX = 1000;

export const preuploadFiles = endpoint({
  method: 'POST',
  path: '/hub/api/:type/:namespace/:name/preupload/:revision',
  access: 'key',
  summary: 'Get the upload method of each file of a commit, as the hub does',
  params: revisionParams,
  query: z.object({ create_pr: z.string().optional() }),
  bodyBytesMax: 4 * 1024 * 1024,
  body: z.object({
    files: z
      .array(
        z.object({
          path: z.string().min(1).max(2000),
          size: z.number().min(0),
          sample: z.string().optional(),
        }),
      )
      .max(FILES_AT_ONCE_MAX),
  }),
  error: hubError,
  response: z.object({
    files: z.array(
      z.object({
        path: z.string(),
        /** `regular` files are part of the commit body. `lfs` files are uploaded before the commit. */
        uploadMode: z.enum(['regular', 'lfs']),
        shouldIgnore: z.literal(false),
        /** SHA-256 of the existing file at this path. */
        oid: z.string().optional(),
      }),
    ),
    commitOid: z.string(),
  }),
});

/** One JSON object per line: the header, then each file that the commit adds, copies or deletes. */
export const commitFiles = endpoint({
  method: 'POST',
  path: '/hub/api/:type/:namespace/:name/commit/:revision',
  access: 'key',
  summary: 'Commit files, as the hub does: one line of JSON for each',
  params: revisionParams,
  query: z.object({ create_pr: z.string().optional() }),
  upload: 'bytes',
  error: hubError,
  response: z.object({
    success: z.literal(true),
    commitOid: z.string(),
    commitUrl: z.string(),
    hookOutput: z.string(),
    pullRequestUrl: z.null(),
  }),
});
