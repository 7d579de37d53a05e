import type { FastifyRequest } from 'fastify';
import type { Services, UserCaller } from '../../../platform/context.ts';
import { requireDatabase } from '../../../platform/db/setup/require-database.ts';
import { isOperator } from '../is-operator.ts';
import { type OnUserCreated, provisionUser } from '../provision-user.ts';
import type { Auth } from '../sign-in/create-auth.ts';

export type FoundSession = {
  caller: UserCaller;
  /** `Set-Cookie` headers, where the session was prolonged. */
  cookies: string[];
};

/**
 * Makes the search for the browser's session by its cookie: null without a live one.
 * It completes a user whose sign-up was cut, so that whoever is signed in has a key and an account.
 */
export function findSession(
  services: Services,
  auth: Auth,
  onUserCreated: OnUserCreated[],
): (request: FastifyRequest) => Promise<FoundSession | null> {
  return async (request) => {
    const { cookie } = request.headers;
    if (!cookie) return null;
    const { response, headers } = await auth.api
      .getSession({ headers: new Headers({ cookie }), returnHeaders: true })
      .catch(async (error) => {
        await requireDatabase(services.pool);
        throw error;
      });
    if (!response) return null;
    const { user, session } = response;
    await provisionUser(services, { userId: user.id, onUserCreated });
    return {
      caller: {
        kind: 'user',
        userId: user.id,
        isOperator: isOperator(services.config, user),
        session: { id: session.id, createdAt: session.createdAt },
      },
      cookies: headers.getSetCookie(),
    };
  };
}
