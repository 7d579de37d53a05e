import type { AuditAction } from '@bakehouse/contract/audit';
import { APIError, createAuthMiddleware, sendVerificationEmailFn } from 'better-auth/api';
import type { Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { recordAudit } from '../record-audit.ts';

/** What is noted of calls by whom they concern, and announced to their other browsers. */
const actions: Partial<Record<string, AuditAction>> = {
  '/change-password': 'password.changed',
  '/update-user': 'profile.changed',
  '/unlink-account': 'sign_in_method.unlinked',
};

/** Does what belongs to a call of the sign-in library once the library has done it, and committed. */
export function finishAuthCalls({ config, db }: Pick<Services, 'config' | 'db'>) {
  return createAuthMiddleware(async (ctx) => {
    const { session, newSession, returned } = ctx.context;
    if (returned instanceof APIError) return;
    if (ctx.path === '/sign-up/email' && newSession && config.mail) {
      // The library would send it within its transaction, which must not wait for a second connection.
      await ctx.context.runInBackgroundOrAwait(sendVerificationEmailFn(ctx, newSession.user));
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
