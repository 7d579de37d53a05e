import { verifyPassword } from 'better-auth/crypto';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { findPasswordHash } from '../queries.ts';

/** Who has no password has signed in by a provider: that long ago at most. */
const RECENT_MS = 10 * 60 * 1000;

/**
 * Makes sure that it is the person who asks, and not whoever found the browser open: by the password, or where the
 * account has none by a sign-in of the last minutes. Throws AppError 'invalid_request' or 'forbidden'.
 */
export async function confirmIdentity(ctx: Context, password: string | undefined): Promise<void> {
  const { userId, session } = ctx.caller;
  const hash = await findPasswordHash(ctx.db, userId);
  if (hash !== null) {
    if (password !== undefined && (await verifyPassword({ hash, password }))) return;
    throw new AppError('invalid_request', { publicMessage: 'This is not your password', param: 'password' });
  }
  if (session && ctx.clock.now().getTime() - session.createdAt.getTime() < RECENT_MS) return;
  throw new AppError('forbidden', {
    publicMessage: 'Sign out, sign in again, and delete the account within ten minutes',
  });
}
