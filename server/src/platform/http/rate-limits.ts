import rateLimit from '@fastify/rate-limit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';

/** Runs the check of who calls, unless this address has failed it too often. */
export type GuardStrangers = <T>(
  request: FastifyRequest,
  reply: FastifyReply,
  authenticate: () => Promise<T>,
) => Promise<T>;

/**
 * Limits the calls per minute of each user, and of each address where nobody is known; routes may
 * lower it with `config.rateLimit`. Calls are counted once it is known who calls, so that a made-up
 * key opens no bucket of its own. What fails before that counts in a bucket of its address, which
 * the returned guard looks at first: users behind one address do not count against each other.
 * 0 switches all of it off.
 */
export async function limitCalls(app: FastifyInstance, perMinute: number): Promise<GuardStrangers> {
  if (perMinute === 0) return (_request, _reply, authenticate) => authenticate();
  await app.register(rateLimit, {
    max: perMinute,
    timeWindow: '1 minute',
    enableDraftSpec: true,
    // The first hook after authentication, and still before the body is read.
    hook: 'preParsing',
    keyGenerator: (request) =>
      request.caller.kind === 'user' ? `user:${request.caller.userId}` : addressOf(request),
    errorResponseBuilder: (_request, limit) => tooMany(limit.after),
  });
  const countFailure = app.createRateLimit({ keyGenerator: addressOf });

  return async (request, reply, authenticate) => {
    const failures = await countFailure(request, { increment: false });
    if (!failures.isAllowed && failures.remaining === 0) {
      reply.header('retry-after', failures.ttlInSeconds);
      throw tooMany(`${failures.ttlInSeconds} seconds`);
    }
    try {
      return await authenticate();
    } catch (error) {
      if (error instanceof AppError && error.status < 500) await countFailure(request);
      throw error;
    }
  };
}

/**
 * Counts calls per minute by what they are about, beside the limits of their routes: call it before
 * the work. A key of null is not counted. Does nothing where the limits are off.
 * The returned function throws AppError('rate_limited').
 */
export function limitBy(
  app: FastifyInstance,
  { max, keyOf }: { max: number; keyOf: (request: FastifyRequest) => string | null },
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  if (!app.hasDecorator('createRateLimit')) return async () => undefined;
  const count = app.createRateLimit({
    max,
    timeWindow: '1 minute',
    keyGenerator: (request) => keyOf(request) ?? '',
  });
  return async (request, reply) => {
    if (keyOf(request) === null) return;
    const counted = await count(request);
    if (counted.isAllowed || !counted.isExceeded) return;
    reply.header('retry-after', counted.ttlInSeconds);
    throw tooMany(`${counted.ttlInSeconds} seconds`);
  };
}

/** The address; of IPv6 the network of 64 bits, since whoever has one address has all of its network. */
export function addressOf(request: FastifyRequest): string {
  return rateLimit.normalizeIP(request.ip);
}

function tooMany(after: string): AppError {
  return new AppError('rate_limited', { publicMessage: `Too many requests. Try again in ${after}.` });
}
