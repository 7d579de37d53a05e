import type { AuditAction } from '@bakehouse/contract/audit';
import { APIError, createAuthMiddleware, sendVerificationEmailFn } from 'better-auth/api';
import type { Services } from '../../../platform/context.ts';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { unauthenticated } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { lockAddress } from '../queries.ts';
import { recordAudit } from '../record-audit.ts';
import { deleteSessions } from '../sessions/session-queries.ts';
import { verifiedHash } from './hash-passwords.ts';
import { findPasswordHash, hasSignInMethod } from './sign-in-queries.ts';

/** Audit actions by path. These calls are also announced to the user's other browsers. */
const actions: Partial<Record<string, AuditAction>> = {
  '/change-password': 'password.changed',
  '/update-user': 'profile.changed',
  '/unlink-account': 'sign_in_method.unlinked',
};

/** Completes a call after the sign-in library's transaction has committed. */
export function finishAuthCalls({ config, db }: Pick<Services, 'config' | 'db'>) {
  return createAuthMiddleware(async (ctx) => {
    const { session, newSession, returned } = ctx.context;
    // On this path even success is a thrown redirect, so handle it before the check for errors below.
    if (ctx.path === '/callback/:id' && newSession) {
      const { id, userId } = newSession.session;
      const stands = await endUnless(db, { id, userId }, (tx) =>
        hasSignInMethod(tx, userId, ctx.params?.id ?? ''),
      );
      if (!stands) throw ctx.redirect('/?error=sign_in_method_gone');
      return;
    }
    if (returned instanceof APIError) return;
    if (ctx.path === '/sign-up/email' && newSession && config.mail) {
      // The library would send the mail within its transaction, and wait there for a second connection.
      await ctx.context.runInBackgroundOrAwait(sendVerificationEmailFn(ctx, newSession.user));
    }
    const verified = verifiedHash();
    if (newSession && verified !== null) {
      const { id, userId } = newSession.session;
      const isStored = async (tx: Transaction) => (await findPasswordHash(tx, userId)) === verified;
      if (!(await endUnless(db, { id, userId }, isStored)))
        throw unauthenticated('The password was changed. Sign in again');
    }
    const action = actions[ctx.path];
    if (!action || !session) return;
    const userId = session.user.id;
    await inTransaction(db, async (tx) => {
      await recordAudit(tx, { userId, action });
      await publishChange(tx, userId, { topic: 'user', id: userId });
    });
  });
}

/**
 * Ends the session if `stands` returns false: the password was replaced, or the provider unlinked, after the
 * check and before the session's commit. Returns false if it ended the session.
 */
async function endUnless(
  db: Database,
  { id, userId }: { id: string; userId: string },
  stands: (tx: Transaction) => Promise<boolean>,
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    // After this lock, a concurrent `proveAddress` has either committed or will see this session.
    await lockAddress(tx, userId);
    if (await stands(tx)) return true;
    await deleteSessions(tx, userId, { only: id });
    return false;
  });
}
