import { availableParallelism } from 'node:os';
import { hashPassword, verifyPassword } from 'better-auth/crypto';
import { AppError } from '../../platform/errors.ts';
import { fairQueue } from '../../platform/fair-queue.ts';

/**
 * A hash takes a tenth of a second of one core and 32 MB, by design. It runs on the four threads that
 * also read and write files: most of them, and of the cores, must stay free.
 */
const AT_ONCE = Math.max(1, Math.min(2, Math.floor(availableParallelism() / 2)));
const WAITING_MAX = 50;

/** Makes the sign-in library's two functions for passwords, of which few run at once, and not many wait. */
export function hashPasswords(): { hash: typeof hashPassword; verify: typeof verifyPassword } {
  const line = fairQueue(AT_ONCE);
  let inLine = 0;
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (inLine >= AT_ONCE + WAITING_MAX) {
      throw new AppError('unavailable', {
        publicMessage: 'Too many people are signing in. Try again in a moment',
      });
    }
    inLine += 1;
    try {
      return await line.run('password', work);
    } finally {
      inLine -= 1;
    }
  };
  return {
    hash: (password) => inTurn(() => hashPassword(password)),
    verify: (input) => inTurn(() => verifyPassword(input)),
  };
}
