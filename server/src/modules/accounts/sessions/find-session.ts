import type { FastifyRequest } from 'fastify';
import type { Services, UserCaller } from '../../../platform/context.ts';
import { requireDatabase } from '../../../platform/db/setup/require-database.ts';
import { isOperator } from '../is-operator.ts';
import { type OnUserCreated, provisionUser } from '../provision-user.ts';
import type { Auth } from './create-auth.ts';

/**
 * Makes the check of the browser's session cookie: its owner, or null without a live session.
 * It completes a user whose sign-up was cut, so that whoever is signed in has a key and an account.
 */
export function authenticateSession(
  services: Services,
  auth: Auth,
  onUserCreated: OnUserCreated[],
): (request: FastifyRequest) => Promise<UserCaller | null> {
  return async (request) => {
    const { cookie } = request.headers;
    if (!cookie) return null;
    const session = await auth.api.getSession({ headers: new Headers({ cookie }) }).catch(async (error) => {
      await requireDatabase(services.pool);
      throw error;
    });
    if (!session) return null;
    const { id: userId } = session.user;
    await provisionUser(services, { userId, onUserCreated });
    const { id, createdAt } = session.session;
    const isOperatorHere = isOperator(services.config, session.user);
    return { kind: 'user', userId, isOperator: isOperatorHere, session: { id, createdAt } };
  };
}
