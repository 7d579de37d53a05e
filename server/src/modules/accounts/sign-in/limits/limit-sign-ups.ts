import { signUpForm } from '@bakehouse/contract/accounts';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../../../config.ts';
import { addressOf, type CountCall, limitBy } from '../../../../platform/http/callers/rate-limits.ts';

/**
 * Makes the limits of new accounts per hour, from one address and in all: each may be given credits, and sends a mail to an
 * address that is anybody's. A form that is not valid does not count.
 */
export function limitSignUps(app: FastifyInstance, { signUpsPerHour, signUpsPerAddress }: Config): CountCall {
  const limits = [
    // The address first: what it refuses does not use up what others may make.
    { max: signUpsPerAddress, keyOf: addressOf, tooMany: 'Too many accounts were made from your network' },
    { max: signUpsPerHour, keyOf: () => 'all', tooMany: 'Too many accounts are being made here' },
  ];
  const counts = limits.filter(({ max }) => max > 0).map((limit) => limitBy(app, { ...limit, per: 'hour' }));
  return async (request, reply) => {
    if (!signUpForm.safeParse(request.body).success) return;
    for (const count of counts) await count(request, reply);
  };
}
