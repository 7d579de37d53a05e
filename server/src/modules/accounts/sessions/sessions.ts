import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type {
  endOtherSessions as endOtherSessionsEndpoint,
  endSession as endSessionEndpoint,
  listSessions as listSessionsEndpoint,
} from '@bakehouse/contract/profile';
import type { FastifyRequest } from 'fastify';
import type { Context, Services, UserCaller } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { requireDatabase } from '../../../platform/db/setup/prepare-database.ts';
import { notFoundError } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { isOperator } from '../operators.ts';
import { recordAudit } from '../record-audit.ts';
import type { Auth } from '../sign-in/create-auth.ts';
import { type OnUserCreated, provisionUser } from '../users.ts';
import { deleteSessions, listUserSessions } from './session-queries.ts';

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

/** Lists the caller's sessions. */
export async function listSessions({
  db,
  clock,
  caller,
}: Context): Promise<ResponseOf<typeof listSessionsEndpoint>> {
  const rows = await listUserSessions(db, caller.userId, clock.now());
  return {
    sessions: rows.map((row) => ({
      id: row.id,
      is_current: row.id === caller.session?.id,
      user_agent: row.user_agent ?? '',
      address: row.ip_address ?? '',
      created_at: row.created_at.toISOString(),
      last_seen_at: row.updated_at.toISOString(),
    })),
  };
}

/** Signs the caller out of all browsers except this one. */
export async function endOtherSessions({
  db,
  caller,
}: Context): Promise<ResponseOf<typeof endOtherSessionsEndpoint>> {
  const { userId, session } = caller;
  return inTransaction(db, async (tx) => {
    const ended = await deleteSessions(tx, userId, { except: session?.id });
    await recordAudit(tx, { userId, action: 'session.others_ended', detail: { ended: String(ended) } });
    await publishChange(tx, userId, { topic: 'user', id: userId });
    return { ended };
  });
}

/** Signs the caller out of one browser and notifies it. Throws AppError 'not_found'. */
export async function endSession(
  { db, caller }: Context,
  { params }: InputOf<typeof endSessionEndpoint>,
): Promise<void> {
  const { userId } = caller;
  await inTransaction(db, async (tx) => {
    const ended = await deleteSessions(tx, userId, { only: params.sessionId });
    if (ended === 0) throw notFoundError('This session has already ended');
    await recordAudit(tx, { userId, action: 'session.ended', detail: { session_id: params.sessionId } });
    await publishChange(tx, userId, { topic: 'user', id: userId });
  });
}
