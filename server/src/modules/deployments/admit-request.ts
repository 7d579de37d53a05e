import { AppError } from '../../platform/errors.ts';

/** Requests that are open at once: of one user, and in this process. Most of them wait for their turn. */
const OPEN_MAX = { user: 64, all: 1024 };

const open = new Map<string, number>();
let all = 0;

/** Seconds after which a refused caller may try again. */
export const RETRY_AFTER_S = 2;

/**
 * Counts a request among the open ones of its user. Returns how to leave. Throws AppError 'rate_limited' where
 * the user has too many, and 'unavailable' where all users together have.
 */
export function admitRequest(userId: string): () => void {
  const own = open.get(userId) ?? 0;
  if (own >= OPEN_MAX.user) {
    throw new AppError('rate_limited', {
      publicMessage: `At most ${OPEN_MAX.user} requests of one user are answered at a time. Try again shortly`,
    });
  }
  if (all >= OPEN_MAX.all) {
    throw new AppError('unavailable', {
      publicMessage: 'Too many requests are waiting for an answer. Try again shortly',
    });
  }
  all += 1;
  open.set(userId, own + 1);
  return () => {
    all -= 1;
    const left = (open.get(userId) ?? 1) - 1;
    if (left === 0) open.delete(userId);
    else open.set(userId, left);
  };
}
