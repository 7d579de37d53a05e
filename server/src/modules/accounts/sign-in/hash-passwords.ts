import { AsyncLocalStorage } from 'node:async_hooks';
import { availableParallelism } from 'node:os';
import { hashPassword, verifyPassword } from 'better-auth/crypto';
import { fairQueue } from '../../../platform/concurrency/fair-queue.ts';
import { openByKey } from '../../../platform/concurrency/open-by-key.ts';
import { unavailable } from '../../../platform/errors.ts';

/**
 * A hash deliberately takes a tenth of a second of a core and 32 MB. Hashes run on the same four threads as
 * file access, so at most two of them may hash.
 */
const AT_ONCE = Math.max(1, Math.min(2, Math.floor(availableParallelism() / 2)));
const WAITING_MAX = 50;
/** Maximum waiting calls per client address. */
const IN_LINE_MAX = 20;

/**
 * The client address and verified hash of the current call, which the sign-in library does not pass to the
 * password functions.
 */
const calls = new AsyncLocalStorage<{ address: string; verifiedHash: string | null }>();

/** Runs `work`. Its password hashes wait in the queue under this client address. */
export function runWithHashQueue<T>(address: string, work: () => Promise<T>): Promise<T> {
  return calls.run({ address, verifiedHash: null }, work);
}

/** Returns the stored hash that the password of this call matched; null if none. */
export function verifiedHash(): string | null {
  return calls.getStore()?.verifiedHash ?? null;
}

/** Records the hash that this call has verified, or the hash by which it has replaced the stored one. */
export function setVerifiedHash(hash: string): void {
  const call = calls.getStore();
  if (call) call.verifiedHash = hash;
}

type Passwords = { hash: typeof hashPassword; verify: typeof verifyPassword };

/**
 * Wraps the sign-in library's password functions in a queue with limited concurrency and length, in which
 * client addresses take turns. Throws AppError 'unavailable' if the queue is full.
 */
export function hashPasswords({ hash, verify }: Passwords): Passwords {
  const queue = fairQueue(AT_ONCE);
  const inLine = openByKey();
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    const address = calls.getStore()?.address ?? '';
    const leave = inLine.all() < AT_ONCE + WAITING_MAX ? inLine.enter(address, IN_LINE_MAX) : null;
    if (!leave) {
      throw unavailable('Too many people are signing in. Try again in a moment');
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
      if (isRight) setVerifiedHash(input.hash);
      return isRight;
    },
  };
}

/** The only queue of this process, shared by all hashing. */
export const passwords = hashPasswords({ hash: hashPassword, verify: verifyPassword });
