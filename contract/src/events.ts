import * as z from 'zod';
import { endpoint } from './endpoint.ts';

/**
 * Server-sent events of one user. A 'change' only reports that something changed; the client then reads it
 * through the ordinary call. The stream ends after the 'api_key' event of the key that opened it, unless that
 * key still works.
 *
 * A client that reconnects within a day sends its last id as `Last-Event-ID` and receives missed events once
 * each, possibly with some it already has. If the id is unknown or there are too many, it gets the event
 * 'reset': anything may have changed. Without an id it receives the last ten seconds, because it may have
 * read before its stream opened.
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
