import type { FastifyInstance } from 'fastify';
import type { Config } from '../../../../config.ts';
import { type CountCall, limitBy, siteOf } from '../../../../platform/http/callers/rate-limits.ts';

/**
 * Makes the limits of new accounts per hour, from one address and in all: each may be given credits, and sends a mail to an
 * address that is anybody's.
 */
export function limitSignUps(app: FastifyInstance, { signUpsPerHour, signUpsPerAddress }: Config): CountCall {
  const limits = [
    // The address first: what it refuses does not use up what others may make.
    { max: signUpsPerAddress, keyOf: siteOf, tooMany: 'Too many accounts were made from your network' },
    { max: signUpsPerHour, keyOf: () => 'all', tooMany: 'Too many accounts are being made here' },
  ];
  const limiters = limits.map((limit) => limitBy(app, { ...limit, per: 'hour' }));
  return async (request, reply) => {
    for (const count of limiters) await count(request, reply);
  };
}
