import type { FastifyRequest } from 'fastify';
import type { Services } from '../../../../platform/context.ts';
import { addressOf, type CountCall, limitBy } from '../../../../platform/http/callers/rate-limits.ts';
import { findUser } from '../../queries.ts';
import { serverSecret } from '../server-secret.ts';
import { readDeviceCookie } from './device-cookie.ts';

/** Passwords per minute from one address, and from one browser that has signed in as this person before. */
const GUESSES_MAX = 10;
/**
 * Passwords per minute for one account from browsers that it does not know, from wherever they come: many
 * addresses must not guess one password together.
 */
const ACCOUNT_MAX = 30;

/**
 * Makes the limit of guesses at passwords, which all calls that take one share: it counts a call by the address, by the
 * account whose password it is, and by the browser. A browser that has signed in as this person before is counted by itself:
 * others' wrong guesses, from the same office or from all over the world, do not lock the person out of it.
 */
export function limitGuesses({ config, db }: Pick<Services, 'config' | 'db'>): CountCall {
  const secret = serverSecret(config);
  const deviceOf = (request: FastifyRequest) =>
    readDeviceCookie(request.headers.cookie, { email: request.guessedEmail ?? '', secret });
  const unlessKnown = (keyOf: (request: FastifyRequest) => string | null) => (request: FastifyRequest) =>
    deviceOf(request) === null ? keyOf(request) : null;
  let counts: CountCall[] | undefined;
  return async (request, reply) => {
    // The buckets belong to the server, which is not there yet when its routes are listed.
    counts ??= [
      // The address first: what it refuses does not use up what the account may take from elsewhere.
      { max: GUESSES_MAX, keyOf: unlessKnown(addressOf) },
      { max: ACCOUNT_MAX, keyOf: unlessKnown(({ guessedEmail }) => guessedEmail) },
      { max: GUESSES_MAX, keyOf: deviceOf },
    ].map((limit) => limitBy(request.server, limit));
    // Who is signed in guesses the own password, whatever else the body says.
    request.guessedEmail = (await ownEmail(db, request)) ?? emailOf(request);
    for (const count of counts) await count(request, reply);
  };
}

/** The address in the body of a call, as accounts are found by it. */
export function emailOf({ body }: FastifyRequest): string | null {
  if (typeof body !== 'object' || body === null || !('email' in body)) return null;
  return typeof body.email === 'string' ? body.email.toLowerCase() : null;
}

async function ownEmail(db: Services['db'], { caller }: FastifyRequest): Promise<string | null> {
  if (caller.kind !== 'user') return null;
  return (await findUser(db, caller.userId))?.email ?? null;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Of the account whose password the call names; set where guesses are counted. */
    guessedEmail: string | null;
  }
}
