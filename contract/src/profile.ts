import * as z from 'zod';
import { endpoint } from './endpoint.ts';

/** A signed-in browser. */
export const session = z.object({
  id: z.string(),
  /** True for the session that makes this call. */
  is_current: z.boolean(),
  user_agent: z.string(),
  address: z.string(),
  created_at: z.string(),
  /** When the session last loaded a page, accurate to five minutes. */
  last_seen_at: z.string(),
});

export type Session = z.infer<typeof session>;

export const listSessions = endpoint({
  method: 'GET',
  path: '/api/v1/users/me/sessions',
  access: 'session',
  summary: 'List your sessions, last seen first',
  response: z.object({ sessions: z.array(session) }),
});

export const endSession = endpoint({
  method: 'DELETE',
  path: '/api/v1/users/me/sessions/:sessionId',
  access: 'session',
  operation: 'sign out there',
  summary: 'End a session',
  params: z.object({ sessionId: z.string().min(1).max(100) }),
  status: 204,
});

export const endOtherSessions = endpoint({
  method: 'DELETE',
  path: '/api/v1/users/me/sessions',
  access: 'session',
  operation: 'sign out elsewhere',
  summary: 'End all other sessions',
  response: z.object({ ended: z.int() }),
});
