import * as z from 'zod';
import { userIdParams } from './accounts.ts';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';

export const listLoras = endpoint({
  method: 'GET',
  path: '/api/v1/users/:userId/loras',
  access: 'key',
  operation: 'fetch your LoRAs',
  scopes: ['read', 'inference'],
  summary: 'List image LoRAs that you may use, newest first',
  params: userIdParams,
  query: z.object({
    /** Case-insensitive part of the title. */
    search: z.string().trim().max(200, 'Search for at most 200 characters').default(''),
    limit: z.coerce.number().int().min(1).max(100).default(100),
    cursor: idOf('model').optional(),
  }),
  response: z.object({
    loras: z.array(
      z.object({
        id: z.string(),
        title: z.string(),
        /** Its owner, if not the caller. */
        owner_username: z.string().nullable(),
      }),
    ),
    next_cursor: z.string().nullable(),
  }),
});
