import * as z from 'zod';
import { endpoint } from './endpoint.ts';

/**
 * Server-sent events of one user. A 'change' only says that something changed; the client then reads the new
 * state with the ordinary call. The stream ends after the 'api_key' event of the key that opened it, unless
 * that key still works.
 *
 * A client that reconnects within a day sends the last id that it received as `Last-Event-ID`. It then
 * receives the events that it missed, and possibly some that it already has. If the id is unknown or there
 * are too many events, it receives the event 'reset', which means that anything may have changed. A client
 * without an id receives the events of the last ten seconds, because it may have read its data before the
 * stream opened.
 */
export const changeEvent = z.object({
  topic: z.enum([
    'asset',
    'run',
    'deployment',
    'reading',
    'balance',
    'machine',
    'api_key',
    'user',
    'notification',
    'generation',
    'conversation',
    'clone',
    'draft',
  ]),
  id: z.string(),
});

export type ChangeEvent = z.infer<typeof changeEvent>;

export const streamEvents = endpoint({
  method: 'GET',
  path: '/api/v1/events',
  access: 'key',
  summary: "Stream changes as server-sent events named 'change'; resume with Last-Event-ID",
  answers: { 'text/event-stream': null },
});
