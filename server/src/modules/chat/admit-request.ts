import { openByKey } from '../../platform/concurrency/open-by-key.ts';
import { shareLimit } from '../../platform/concurrency/share-limit.ts';
import type { Services } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';

/** Requests that are open at once: of one user in all processes, and in this one. Most of them wait for their turn. */
const OPEN_MAX = { user: 64, all: 1024 };
const RETRY_AFTER_MS = 2_000;

const open = openByKey();

/** How many requests this process answers, or has waiting for an answer. */
export function openRequests(): number {
  return open.all();
}

type NeededServices = Pick<Services, 'webProcesses'>;

/**
 * Counts a request among the open ones of its user. Returns how to leave. Throws AppError 'rate_limited' where
 * the user has too many, and 'unavailable' where all users together have.
 */
export function admitRequest(services: NeededServices, userId: string): () => void {
  const max = openMax(services);
  const leave = open.enter(userId, max);
  if (leave === null) throw tooMany(max);
  return leave;
}

/** Throws what `admitRequest` would throw now: before a body is read, which takes no place while it comes. */
export function refuseUnadmitted(services: NeededServices, userId: string): void {
  const max = openMax(services);
  if (open.of(userId) >= max) throw tooMany(max);
}

/** How many of one user may be open. */
function openMax({ webProcesses }: NeededServices): number {
  if (open.all() < OPEN_MAX.all) return shareLimit(OPEN_MAX.user, webProcesses());
  throw new AppError('unavailable', {
    publicMessage: 'Too many requests are waiting for an answer. Try again shortly',
    retryAfterMs: RETRY_AFTER_MS,
  });
}

function tooMany(max: number): AppError {
  return new AppError('rate_limited', {
    publicMessage: `At most ${max} requests of one user are answered at a time. Try again shortly`,
    retryAfterMs: RETRY_AFTER_MS,
  });
}
