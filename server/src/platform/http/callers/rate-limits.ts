import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../../config.ts';
import { shareLimit, stretchWindow } from '../../concurrency/share-limit.ts';
import { AppError, tooMany } from '../../errors.ts';

/** Runs `authenticate`. Throws AppError 'rate_limited' if this address has failed too often. */
type LimitFailures = <T>(
  request: FastifyRequest,
  reply: FastifyReply,
  authenticate: () => Promise<T>,
) => Promise<T>;

/** Counts a call; throws AppError 'rate_limited' above the limit. */
export type CountCall = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** Returns the bucket that counts a call, or null if the call is not counted. */
type KeyOf = (request: FastifyRequest) => string | null;

/** Maximum number of buckets; the least recently used one is dropped. */
const BUCKETS_MAX = 50_000;
const MS = { minute: 60_000, hour: 3_600_000 };
const TOO_MANY = 'Too many requests';

/**
 * Creates the limits of calls per minute.
 *
 * `countCall` counts the calls of each user over all routes, or of each address if there is no user. It runs
 * after authentication, so that invalid keys create no buckets. `limitFailures` counts failed authentications
 * by address. It only rejects further failures, so a program with a revoked key does not lock out others at
 * the same address.
 *
 * 0 calls per minute disable both, but not `limitBy`. Without `rateLimits` nothing is limited. Each process
 * counts its own calls, up to its share of a limit.
 */
export async function limitCalls(
  app: FastifyInstance,
  { rateLimits, rateLimitPerMinute: perMinute }: Pick<Config, 'rateLimits' | 'rateLimitPerMinute'>,
  webProcesses: () => number,
): Promise<{ limitFailures: LimitFailures; countCall: CountCall }> {
  if (rateLimits) await openBuckets(app, webProcesses);
  if (!rateLimits || perMinute === 0) {
    return {
      limitFailures: (_request, _reply, authenticate) => authenticate(),
      countCall: async () => undefined,
    };
  }
  const countFailure = app.createRateLimit({
    max: () => app.shareOfLimit(perMinute),
    timeWindow: () => app.windowOfLimit(perMinute, MS.minute),
    keyGenerator: addressOf,
  });

  return {
    countCall: limitBy(app, { max: perMinute, keyOf: callerOf }),
    limitFailures: async (request, reply, authenticate) => {
      try {
        return await authenticate();
      } catch (error) {
        if (!(error instanceof AppError) || error.status >= 500) throw error;
        const failures = await countFailure(request);
        if (!failures.isAllowed && failures.isExceeded) throw tooManyCalls(reply, failures.ttlInSeconds);
        throw error;
      }
    },
  };
}

async function openBuckets(app: FastifyInstance, webProcesses: () => number): Promise<void> {
  app.decorate('shareOfLimit', (limit: number) => shareLimit(limit, webProcesses()));
  app.decorate('windowOfLimit', (limit: number, ms: number) => ms * stretchWindow(limit, webProcesses()));
  await app.register(rateLimit, { global: false, cache: BUCKETS_MAX });
}

type Limit = {
  /** 0 for no limit. */
  max: number;
  keyOf: KeyOf;
  per?: 'minute' | 'hour';
  /** Text of the error. */
  tooMany?: string;
};

/** Returns a function that counts calls by a key and sets the standard headers, unless limits are off. */
export function limitBy(
  app: FastifyInstance,
  { max, keyOf, per = 'minute', tooMany: words = TOO_MANY }: Limit,
): CountCall {
  if (max === 0 || !app.hasDecorator('createRateLimit')) return async () => undefined;
  const count = app.createRateLimit({
    max: () => app.shareOfLimit(max),
    timeWindow: () => app.windowOfLimit(max, MS[per]),
    keyGenerator: (request) => keyOf(request) ?? '',
  });
  return async (request, reply) => {
    if (keyOf(request) === null) return;
    const counted = await count(request);
    if (counted.isAllowed) return;
    // If several limits apply to a call, the headers show the one with the fewest remaining calls.
    const least = Number(reply.getHeader('ratelimit-remaining') ?? Number.POSITIVE_INFINITY);
    if (counted.remaining <= least) {
      reply.headers({
        'ratelimit-limit': counted.max,
        'ratelimit-remaining': counted.remaining,
        'ratelimit-reset': counted.ttlInSeconds,
      });
    }
    if (counted.isExceeded) throw tooManyCalls(reply, counted.ttlInSeconds, words);
  };
}

/** Returns the key of the user, or of the address if there is no user. */
export function callerOf(request: FastifyRequest): string {
  return request.caller.kind === 'user' ? `user:${request.caller.userId}` : addressOf(request);
}

/** Returns the address. For IPv6, returns its /64 network, because one host can use every address in it. */
export function addressOf(request: FastifyRequest): string {
  return rateLimit.normalizeIP(request.ip);
}

/** Returns the address; for IPv6 its /48 network, the largest that a provider assigns to one customer. */
export function siteOf(request: FastifyRequest): string {
  return rateLimit.normalizeIP(request.ip, 48);
}

function tooManyCalls(reply: FastifyReply, seconds: number, words = TOO_MANY): AppError {
  reply.header('retry-after', seconds);
  return tooMany(`${words}. Try again in ${inWords(seconds)}.`);
}

function inWords(seconds: number): string {
  if (seconds > 120) return `${Math.ceil(seconds / 60)} minutes`;
  return `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** This process's share of a limit of all web processes. */
    shareOfLimit: (limit: number) => number;
    /** Returns the window of a limit in ms. It is longer if the share would be below one call. */
    windowOfLimit: (limit: number, ms: number) => number;
  }
}
