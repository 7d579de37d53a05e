import { AsyncLocalStorage } from 'node:async_hooks';
import { availableParallelism } from 'node:os';
import { hashPassword, verifyPassword } from 'better-auth/crypto';
import { fairQueue } from '../../../platform/concurrency/fair-queue.ts';
import { openByKey } from '../../../platform/concurrency/open-by-key.ts';
import { AppError } from '../../../platform/errors.ts';

/**
 * A hash takes a tenth of a second of one core and 32 MB, by design. It runs on the four threads that
 * also read and write files: most of them, and of the cores, must stay free.
 */
const AT_ONCE = Math.max(1, Math.min(2, Math.floor(availableParallelism() / 2)));
const WAITING_MAX = 50;
/** Of one address, however many it has sent. */
const IN_LINE_MAX = 20;

/** The sign-in library says nothing of the call for which it hashes. */
const calls = new AsyncLocalStorage<{ address: string; verifiedHash: string | null }>();

/** Runs `work`; the passwords that it hashes wait in the line of this address. */
export function hashingFor<T>(address: string, work: () => Promise<T>): Promise<T> {
  return calls.run({ address, verifiedHash: null }, work);
}

/** The stored hash that the password of this call was right for; null where none was. */
export function verifiedHash(): string | null {
  return calls.getStore()?.verifiedHash ?? null;
}

/** Notes which hash that is: whoever replaces it knows the new password, too. */
export function noteVerified(hash: string): void {
  const call = calls.getStore();
  if (call) call.verifiedHash = hash;
}

type Passwords = { hash: typeof hashPassword; verify: typeof verifyPassword };

/**
 * Makes the sign-in library's two functions for passwords of those that do the work: few run at once,
 * and not many wait. Addresses take turns: many calls of one delay nobody else.
 */
export function hashPasswords({ hash, verify }: Passwords): Passwords {
  const queue = fairQueue(AT_ONCE);
  const inLine = openByKey();
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    const address = calls.getStore()?.address ?? '';
    const leave = inLine.all() < AT_ONCE + WAITING_MAX ? inLine.enter(address, IN_LINE_MAX) : null;
    if (!leave) {
      throw new AppError('unavailable', {
        publicMessage: 'Too many people are signing in. Try again in a moment',
      });
    }
    try {
      return await queue.run(address, work);
    } finally {
      leave();
    }
  };
  return {
    hash: (password) => inTurn(() => hash(password)),
    verify: async (input) => {
      const isRight = await inTurn(() => verify(input));
      if (isRight) noteVerified(input.hash);
      return isRight;
    },
  };
}

/** The one queue of this process, for whatever hashes. */
export const passwords = hashPasswords({ hash: hashPassword, verify: verifyPassword });
