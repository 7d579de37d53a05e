import { AsyncLocalStorage } from 'node:async_hooks';
import { availableParallelism } from 'node:os';
import { hashPassword, verifyPassword } from 'better-auth/crypto';
import { fairQueue } from '../../../platform/concurrency/fair-queue.ts';
import { openByKey } from '../../../platform/concurrency/open-by-key.ts';
import { AppError } from '../../../platform/errors.ts';

/**
 * A hash takes a tenth of a second of one core and 32 MB, by design. It runs on the four threads that also read and write
 * files, so most of them must stay free.
 */
const AT_ONCE = Math.max(1, Math.min(2, Math.floor(availableParallelism() / 2)));
const WAITING_MAX = 50;
/** Waiting calls of one client address. */
const IN_LINE_MAX = 20;

/** The sign-in library does not pass its call on to the password functions. */
const calls = new AsyncLocalStorage<{ address: string; verifiedHash: string | null }>();

/** Runs `work`, whose passwords are hashed in the turn of this client address. */
export function hashingFor<T>(address: string, work: () => Promise<T>): Promise<T> {
  return calls.run({ address, verifiedHash: null }, work);
}

/** The stored hash that this call's password has matched; null without one. */
export function verifiedHash(): string | null {
  return calls.getStore()?.verifiedHash ?? null;
}

/** Notes that hash, also after this call has replaced it. */
export function noteVerified(hash: string): void {
  const call = calls.getStore();
  if (call) call.verifiedHash = hash;
}

type Passwords = { hash: typeof hashPassword; verify: typeof verifyPassword };

/**
 * Wraps the sign-in library's two password functions in a queue: few run at once, a limited number waits, and client
 * addresses take turns. Throws AppError 'unavailable' where the queue is full.
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
