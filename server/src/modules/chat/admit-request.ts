import { openByKey } from '../../platform/concurrency/open-by-key.ts';
import { shareLimit } from '../../platform/concurrency/share-limit.ts';
import type { Services } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';

/** Requests that are open at once: of one user in all processes, and in this one. Most of them wait for their turn. */
const OPEN_MAX = { user: 64, all: 1024 };

const open = openByKey();

/** How many requests this process answers, or has waiting for an answer. */
export function openRequests(): number {
  return open.all();
}

/** Seconds after which a refused caller may try again. */
export const RETRY_AFTER_S = 2;

/**
 * Counts a request among the open ones of its user. Returns how to leave. Throws AppError 'rate_limited' where
 * the user has too many, and 'unavailable' where all users together have.
 */
export function admitRequest({ webProcesses }: Pick<Services, 'webProcesses'>, userId: string): () => void {
  if (open.all() >= OPEN_MAX.all) {
    throw new AppError('unavailable', {
      publicMessage: 'Too many requests are waiting for an answer. Try again shortly',
    });
  }
  const max = shareLimit(OPEN_MAX.user, webProcesses());
  const leave = open.enter(userId, max);
  if (leave === null) {
    throw new AppError('rate_limited', {
      publicMessage: `At most ${max} requests of one user are answered at a time. Try again shortly`,
    });
  }
  return leave;
}
