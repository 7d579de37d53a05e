import { openByKey } from '../../platform/concurrency/open-by-key.ts';
import { shareLimit } from '../../platform/concurrency/share-limit.ts';
import type { Services } from '../../platform/context.ts';
import { type AppError, tooMany, unavailable } from '../../platform/errors.ts';
import { holdBody } from './pictures/held-pictures.ts';

/**
 * Maximum open requests, running or queued. `user` applies to one user across all processes, `all` to this
 * process.
 */
const OPEN_MAX = { user: 64, all: 1024 };
const RETRY_AFTER_MS = 2_000;

const open = openByKey();

/** Returns the number of open requests in this process, running or queued. */
export function openRequests(): number {
  return open.all();
}

type NeededServices = Pick<Services, 'webProcesses'>;

/**
 * Admits a request of the user, and returns a function that releases its slot. Throws AppError 'rate_limited'
 * if the user has too many open requests, and 'unavailable' if this process has too many.
 */
export function admitRequest(services: NeededServices, userId: string): () => void {
  const max = openMax(services);
  const leave = open.enter(userId, max);
  if (leave === null) throw tooManyRequests(max);
  return leave;
}

/** Throws the error that `admitRequest` would throw now, without reserving a slot. */
export function assertAdmissible(services: NeededServices, userId: string): void {
  const max = openMax(services);
  if (open.of(userId) >= max) throw tooManyRequests(max);
}

/**
 * Like `assertAdmissible`, for a body that may have pictures. Reserves room for them, and returns a function
 * that releases it. Throws AppError 'rate_limited' if there is none.
 */
export function admitBody(services: NeededServices, userId: string, bytes: number): () => void {
  assertAdmissible(services, userId);
  return holdBody(userId, bytes);
}

/** Returns the limit of open requests per user. */
function openMax({ webProcesses }: NeededServices): number {
  if (open.all() < OPEN_MAX.all) return shareLimit(OPEN_MAX.user, webProcesses());
  throw unavailable('Too many requests are waiting for an answer. Try again shortly', {
    retryAfterMs: RETRY_AFTER_MS,
  });
}

function tooManyRequests(max: number): AppError {
  return tooMany(`At most ${max} requests per user can be in progress. Try again shortly`, {
    retryAfterMs: RETRY_AFTER_MS,
  });
}
