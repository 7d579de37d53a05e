import type { FastifyRequest } from 'fastify';
import type { Services, UserCaller } from '../../../platform/context.ts';
import { requireDatabase } from '../../../platform/db/setup/require-database.ts';
import { isOperator } from '../is-operator.ts';
import { type OnUserCreated, provisionUser } from '../provision-user.ts';
import type { Auth } from '../sign-in/create-auth.ts';

export type FoundSession = {
  /** Null without a valid session. */
  caller: UserCaller | null;
  /** `Set-Cookie` headers: the session was extended, or the cookie is invalid. */
  cookies: string[];
};

/**
 * Returns the lookup of a browser's session by its cookie. The lookup also completes users whose sign-up was
 * interrupted, so that every signed-in user has a key and an account.
 */
export function findSession(
  services: Services,
  auth: Auth,
  onUserCreated: OnUserCreated[],
): (request: FastifyRequest) => Promise<FoundSession> {
  return async (request) => {
    const { cookie } = request.headers;
    if (!cookie) return { caller: null, cookies: [] };
    const { response, headers } = await auth.api
      .getSession({ headers: new Headers({ cookie }), returnHeaders: true })
      .catch(async (error) => {
        await requireDatabase(services.pool);
        throw error;
      });
    const cookies = headers.getSetCookie();
    if (!response) return { caller: null, cookies };
    const { user, session } = response;
    await provisionUser(services, { userId: user.id, onUserCreated });
    return {
      caller: {
        kind: 'user',
        userId: user.id,
        isOperator: isOperator(services.config, user),
        session: { id: session.id, createdAt: session.createdAt },
      },
      cookies,
    };
  };
}
