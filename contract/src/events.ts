import * as z from 'zod';
import { endpoint } from './endpoint.ts';

/**
 * Server-sent events of one user. An event says only that something changed; the client
 * then reads it through the ordinary call, so that there is one truth. After the
 * 'api_key' of the key that opened it the stream ends, unless that key still opens.
 */
export const changeEvent = z.object({
  topic: z.enum(['asset', 'run', 'deployment', 'balance', 'machine', 'api_key']),
  id: z.string(),
});

export type ChangeEvent = z.infer<typeof changeEvent>;

export const streamEvents = endpoint({
  method: 'GET',
  path: '/api/v1/events',
  access: 'key',
  summary: "What changed for the caller, as server-sent events named 'change'",
});
