import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../../config.ts';
import type { Services } from '../../context.ts';
import { AppError, tooMany } from '../../errors.ts';
import { shareCounts } from './shared-counts.ts';

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
 * 0 calls per minute disable both, but not `limitBy`. Without `rateLimits` nothing is limited.
 */
export async function limitCalls(
  app: FastifyInstance,
  {
    config,
    db,
    webProcesses,
  }: Pick<Services, 'db' | 'webProcesses'> & { config: Pick<Config, 'rateLimits' | 'rateLimitPerMinute'> },
): Promise<{ limitFailures: LimitFailures; countCall: CountCall }> {
  const { rateLimits, rateLimitPerMinute: perMinute } = config;
  if (rateLimits) {
    const counts = shareCounts(db, webProcesses);
    app.addHook('onClose', async () => counts.close());
    await app.register(rateLimit, { global: false, store: counts.Store });
  }
  if (!rateLimits || perMinute === 0) {
    return {
      limitFailures: (_request, _reply, authenticate) => authenticate(),
      countCall: async () => undefined,
    };
  }
  const countFailure = app.createRateLimit({
    ...{ name: 'failures', max: perMinute, timeWindow: MS.minute },
    keyGenerator: addressOf,
  });

  return {
    countCall: limitBy(app, { name: 'calls', max: perMinute, keyOf: callerOf }),
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

type Limit = {
  /** Unique, because it identifies the limit's counts in all processes. */
  name: string;
  /** 0 for no limit. */
  max: number;
  keyOf: KeyOf;
  per?: 'minute' | 'hour';
  /** Text of the error. */
  tooMany?: string;
  /** Counts in the database before each call, so that no process accepts a call too many. */
  isExact?: boolean;
};

/** Returns a function that counts calls by a key and sets the standard headers, unless limits are off. */
export function limitBy(
  app: FastifyInstance,
  { name, max, keyOf, per = 'minute', tooMany: words = TOO_MANY, isExact = false }: Limit,
): CountCall {
  if (max === 0 || !app.hasDecorator('createRateLimit')) return async () => undefined;
  const count = app.createRateLimit({
    ...{ name, isExact, max, timeWindow: MS[per] },
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
