import { getSession } from '@bakehouse/contract/accounts';
import type { FastifyRequest } from 'fastify';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { Answer } from '../../../platform/http/answer.ts';
import { type Binding, bindPublic } from '../../../platform/http/bind.ts';
import { getApiKey } from '../keys/api-keys.ts';
import { getMe } from '../users.ts';
import type { FoundSession } from './sessions.ts';

/** The route that works with and without a session. */
export function sessionRoutes(findSession: (request: FastifyRequest) => Promise<FoundSession>): Binding[] {
  return [
    bindPublic(getSession, async (ctx, _input, { request }) => {
      const session = await findSession(request);
      const headers = {
        // The URL is the same for all users, so the response must not be cached.
        'cache-control': 'no-store',
        ...(session.cookies.length > 0 && { 'set-cookie': session.cookies }),
      };
      if (!session.caller) return new Answer({ user: null, api_key: null }, { headers });
      const own = { ...ctx, caller: session.caller };
      const [user, apiKey] = await Promise.all([getMe(own), readKey(own)]);
      return new Answer({ user, api_key: apiKey }, { headers });
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
