import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../../../../config.ts';
import type { Services } from '../../../../platform/context.ts';
import { addressOf, type CountCall, limitBy, siteOf } from '../../../../platform/http/callers/rate-limits.ts';
import { isSameSecret, signatureOfText } from '../../../../platform/signature.ts';
import { findUser } from '../../queries.ts';
import { serverSecret } from '../server-secret.ts';

const NAME = 'bakehouse.device';
const AGE_S = 400 * 24 * 3600;

/** Maximum passwords per minute from one client address, and from one known browser. */
const GUESSES_MAX = 10;

/**
 * Maximum passwords per minute for one account from all unknown browsers together. Stops guessing from many
 * addresses.
 */
const ACCOUNT_MAX = 30;

declare module 'fastify' {
  interface FastifyRequest {
    /** The email address of the account whose password is guessed; set by calls that count guesses. */
    guessedEmail: string | null;
  }
}

/** Counts a new account of the current call, which the sign-in library does not pass to its hooks. */
const accountCounter = new AsyncLocalStorage<() => Promise<void>>();

/**
 * Returns the limit of password guesses, shared by all calls with a password. It counts per client address,
 * per account and per known browser. A browser that has signed in as this user has its own count, so that
 * guesses by others do not lock the user out.
 */
export function limitGuesses({ config, db }: Pick<Services, 'config' | 'db'>): CountCall {
  const secret = serverSecret(config);
  const deviceOf = (request: FastifyRequest) =>
    readDeviceCookie(request.headers.cookie, { email: request.guessedEmail ?? '', secret });
  const unlessKnown = (keyOf: (request: FastifyRequest) => string | null) => (request: FastifyRequest) =>
    deviceOf(request) === null ? keyOf(request) : null;
  let counts: CountCall[] | undefined;
  return async (request, reply) => {
    // The server's counters do not exist yet when its routes are defined, so create them at the first call.
    counts ??= [
      // Check the client address first, so that rejected calls do not use up the account's limit.
      { name: 'guesses by address', max: GUESSES_MAX, keyOf: unlessKnown(addressOf) },
      {
        name: 'guesses for account',
        max: ACCOUNT_MAX,
        keyOf: unlessKnown(({ guessedEmail }) => guessedEmail),
      },
      { name: 'guesses by browser', max: GUESSES_MAX, keyOf: deviceOf },
    ].map((limit) => limitBy(request.server, { ...limit, isExact: true }));
    // A signed-in user can only test their own password, so ignore the email address in the body.
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

/** Returns the hourly limits of new accounts, per client network and in total: each may cost credits. */
export function limitSignUps(app: FastifyInstance, { signUpsPerHour, signUpsPerAddress }: Config): CountCall {
  const limits = [
    // Check the network first, so that rejected calls do not use up the total.
    {
      name: 'sign-ups by network',
      max: signUpsPerAddress,
      keyOf: siteOf,
      tooMany: 'Too many sign-ups from your network',
    },
    { name: 'sign-ups', max: signUpsPerHour, keyOf: () => 'all', tooMany: 'Too many sign-ups right now' },
  ];
  const limiters = limits.map((limit) => limitBy(app, { ...limit, per: 'hour', isExact: true }));
  return async (request, reply) => {
    for (const count of limiters) await count(request, reply);
  };
}

/** Runs `work`, and calls `count` for each account that it creates. */
export function countingSignUps<T>(count: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  return accountCounter.run(count, work);
}

/** Counts an account that is about to be created. Throws AppError 'rate_limited' above the limit. */
export async function countSignUp(): Promise<void> {
  await accountCounter.getStore()?.();
}

/**
 * Returns the cookie that a browser stores after signing in with this address: a random name of the browser,
 * and a signature that binds it to the address.
 */
export function makeDeviceCookie(
  email: string,
  { secret, isSecure }: { secret: string; isSecure: boolean },
): string {
  const device = randomBytes(16).toString('base64url');
  const value = `${device}.${sign(device, email, secret)}`;
  const flags = `Path=/api; HttpOnly; SameSite=Lax; Max-Age=${AGE_S}${isSecure ? '; Secure' : ''}`;
  return `${NAME}=${value}; ${flags}`;
}

/** Returns the name of the browser if it has signed in with this address before; null otherwise. */
export function readDeviceCookie(
  cookies: string | undefined,
  { email, secret }: { email: string; secret: string },
): string | null {
  const own = cookies?.split('; ').find((cookie) => cookie.startsWith(`${NAME}=`));
  const [device = '', signature = ''] = own?.slice(NAME.length + 1).split('.') ?? [];
  return isSameSecret(sign(device, email, secret), signature) ? device : null;
}

function sign(device: string, email: string, secret: string): string {
  return signatureOfText(secret, 'device cookies', `${device}\n${email.toLowerCase()}`);
}
