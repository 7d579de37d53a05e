import * as z from 'zod';
import { endpoint } from './endpoint.ts';

/**
 * Server-sent events of one user. A 'change' says only that something changed; the client
 * then reads it through the ordinary call, so that there is one truth. After the
 * 'api_key' of the key that opened it the stream ends, unless that key still opens.
 *
 * A client that comes back within a day sends the last id that it has as `Last-Event-ID` and is told
 * what it has missed, each thing once; some that it has heard may be among it. Where that is not known
 * any more, or is very much, it gets the event 'reset': anything may have changed. One that says no id
 * is told of the last ten seconds: it may have read before its stream opened.
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
