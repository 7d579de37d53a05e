import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../../../config.ts';
import { type CountCall, limitBy, siteOf } from '../../../../platform/http/callers/rate-limits.ts';

/** Returns the hourly limits of new accounts, per client network and in total: each may cost credits. */
export function limitSignUps(app: FastifyInstance, { signUpsPerHour, signUpsPerAddress }: Config): CountCall {
  const limits = [
    // Check the network first, so that rejected calls do not use up the total.
    { max: signUpsPerAddress, keyOf: siteOf, tooMany: 'Too many sign-ups from your network' },
    { max: signUpsPerHour, keyOf: () => 'all', tooMany: 'Too many sign-ups right now' },
  ];
  const limiters = limits.map((limit) => limitBy(app, { ...limit, per: 'hour' }));
  return async (request, reply) => {
    for (const count of limiters) await count(request, reply);
  };
}

/** The sign-in library does not pass its call on to its hooks. */
const accountCounter = new AsyncLocalStorage<() => Promise<void>>();

/** Runs `work`; `count` counts an account that it creates. */
export function countingSignUps<T>(count: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  return accountCounter.run(count, work);
}

/** Counts an account that is about to be created. Throws AppError 'rate_limited'. */
export async function countSignUp(): Promise<void> {
  await accountCounter.getStore()?.();
}
