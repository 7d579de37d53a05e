import * as z from 'zod';
import { FILES_SHOWN_MAX } from './assets.ts';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';

/** Always reports complete copies, because a file is listed only when its upload is complete. */
export const filesCopyStatus = endpoint({
  method: 'GET',
  path: '/api/v1/asset/:id/files_copy_status',
  access: 'key',
  summary: 'List the copy status of each file in the latest version',
  params: z.object({ id: idOf('dataset or model') }),
  query: z.object({
    limit: z.coerce.number().int().min(1).max(FILES_SHOWN_MAX).default(FILES_SHOWN_MAX),
    cursor: z.string().optional(),
  }),
  response: z.object({
    status: z.literal('COMPLETED'),
    /** 0 to 100. */
    progress: z.number(),
    files_copy_status: z.array(
      z.object({ file_path: z.string(), size_bytes: z.int(), status: z.literal('COMPLETED') }),
    ),
    next_cursor: z.string().nullable(),
  }),
});
