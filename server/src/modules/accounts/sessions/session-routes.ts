import { getSession } from '@bakehouse/contract/accounts';
import type { FastifyRequest } from 'fastify';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { type Binding, bindPublic } from '../../../platform/http/bind.ts';
import { getApiKey } from '../keys/api-keys.ts';
import { getMe } from '../users.ts';
import type { FoundSession } from './sessions.ts';

/** The route that works with and without a session. */
export function sessionRoutes(findSession: (request: FastifyRequest) => Promise<FoundSession>): Binding[] {
  return [
    bindPublic(getSession, async (ctx, _input, { request, reply }) => {
      const session = await findSession(request);
      // The URL is the same for all users, so the response must not be cached.
      reply.header('cache-control', 'no-store');
      if (session.cookies.length > 0) reply.header('set-cookie', session.cookies);
      if (!session.caller) return { user: null, api_key: null };
      const own = { ...ctx, caller: session.caller };
      const [user, apiKey] = await Promise.all([getMe(own), readKey(own)]);
      return { user, api_key: apiKey };
    }),
  ];
}

async function readKey(ctx: Context): Promise<string | null> {
  try {
    return (await getApiKey(ctx)).data;
  } catch (error) {
    if (error instanceof AppError && error.code === 'key_not_readable') return null;
    throw error;
  }
}
