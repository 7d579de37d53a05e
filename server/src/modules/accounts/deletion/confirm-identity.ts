import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { hashingFor, passwords } from '../sign-in/hash-passwords.ts';
import { findPasswordHash } from '../sign-in/sign-in-queries.ts';

/** Who has no password has signed in by a provider: that long ago at most. */
const RECENT_MS = 10 * 60 * 1000;

/**
 * Makes sure that it is the person who asks, and not whoever found the browser open: by the password, or where the
 * account has none by a sign-in of the last minutes. The password waits in the line of the `address` that asks. Throws
 * AppError 'invalid_request', 'forbidden', or 'unavailable' where too many are hashed.
 */
export async function confirmIdentity(
  ctx: Context,
  { password, address }: { password: string | undefined; address: string },
): Promise<void> {
  const { userId, session } = ctx.caller;
  const hash = await findPasswordHash(ctx.db, userId);
  if (hash !== null) {
    const isRight =
      password !== undefined && (await hashingFor(address, () => passwords.verify({ hash, password })));
    if (isRight) return;
    throw new AppError('invalid_request', { publicMessage: 'This is not your password', param: 'password' });
  }
  if (session && ctx.clock.now().getTime() - session.createdAt.getTime() < RECENT_MS) return;
  throw new AppError('forbidden', {
    publicMessage: 'Sign out, sign in again, and delete the account within ten minutes',
  });
}
