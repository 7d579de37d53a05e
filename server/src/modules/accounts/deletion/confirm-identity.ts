import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { hashingFor, passwords } from '../sign-in/hash-passwords.ts';
import { findPasswordHash } from '../sign-in/sign-in-queries.ts';

/** How recent the sign-in of a user without a password must be. */
const RECENT_MS = 10 * 60 * 1000;

/**
 * Confirms that the caller owns the account: by the password, or without one by a recent sign-in. Hashing
 * takes turns by `address`, the client's. Throws AppError 'invalid_request', 'forbidden', or 'unavailable' if
 * too many passwords wait.
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
    throw new AppError('invalid_request', { publicMessage: 'Wrong password', param: 'password' });
  }
  if (session && ctx.clock.now().getTime() - session.createdAt.getTime() < RECENT_MS) return;
  throw new AppError('forbidden', {
    publicMessage: 'Sign out, sign in again, and delete the account within ten minutes',
  });
}
