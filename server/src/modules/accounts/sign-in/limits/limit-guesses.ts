import type { FastifyRequest } from 'fastify';
import type { Services } from '../../../../platform/context.ts';
import { addressOf, type CountCall, limitBy } from '../../../../platform/http/callers/rate-limits.ts';
import { findUser } from '../../queries.ts';
import { serverSecret } from '../server-secret.ts';
import { readDeviceCookie } from './device-cookie.ts';

/** Passwords per minute from one client address, and from one known browser. */
const GUESSES_MAX = 10;
/** Passwords per minute for one account from all unknown browsers, against guessing from many addresses. */
const ACCOUNT_MAX = 30;

/**
 * Returns the limit of password guesses, shared by all calls with a password. It counts by client address, by
 * account and by known browser. A browser that has signed in as this user has a separate count, so that
 * others' guesses do not lock the user out.
 */
export function limitGuesses({ config, db }: Pick<Services, 'config' | 'db'>): CountCall {
  const secret = serverSecret(config);
  const deviceOf = (request: FastifyRequest) =>
    readDeviceCookie(request.headers.cookie, { email: request.guessedEmail ?? '', secret });
  const unlessKnown = (keyOf: (request: FastifyRequest) => string | null) => (request: FastifyRequest) =>
    deviceOf(request) === null ? keyOf(request) : null;
  let counts: CountCall[] | undefined;
  return async (request, reply) => {
    // The buckets belong to the server, which does not exist yet when its routes are defined.
    counts ??= [
      // Check the client address first, so that rejected calls do not use up the account's limit.
      { max: GUESSES_MAX, keyOf: unlessKnown(addressOf) },
      { max: ACCOUNT_MAX, keyOf: unlessKnown(({ guessedEmail }) => guessedEmail) },
      { max: GUESSES_MAX, keyOf: deviceOf },
    ].map((limit) => limitBy(request.server, limit));
    // A signed-in user guesses their own password, whatever address the body has.
    request.guessedEmail = (await ownEmail(db, request)) ?? emailOf(request);
    for (const count of counts) await count(request, reply);
  };
}

/** Returns the email address in a call's body, in lower case. */
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
    /** The email address of the account whose password is guessed; set by calls that count guesses. */
    guessedEmail: string | null;
  }
}
