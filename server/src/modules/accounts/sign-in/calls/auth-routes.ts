import { STATUS_CODES } from 'node:http';
import type { ErrorBody } from '@bakehouse/contract/errors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import type { Services } from '../../../../platform/context.ts';
import { requireDatabase } from '../../../../platform/db/setup/prepare-database.ts';
import { invalidParam, signInRequired } from '../../../../platform/errors.ts';
import type { Authenticators } from '../../../../platform/http/callers/find-caller.ts';
import {
  addressOf,
  type CountCall,
  callerOf,
  limitBy,
} from '../../../../platform/http/callers/rate-limits.ts';
import { toErrorBody } from '../../../../platform/http/send-error.ts';
import { rejectOtherMethods } from '../../../../platform/http/unknown-calls.ts';
import { sentenceOf } from '../../../../platform/http/validation/invalid-request.ts';
import { AUTH_PATH, type Auth, CLIENT_ADDRESS_HEADER } from '../create-auth.ts';
import { runWithHashQueue } from '../hash-passwords.ts';
import { countingSignUps, emailOf, limitSignUps, makeDeviceCookie } from '../limits/sign-in-limits.ts';
import { serverSecret } from '../server-secret.ts';
import { authBodies } from './auth-bodies.ts';

type AuthRoute = ({ method: 'GET'; path: string } | { method: 'POST'; path: keyof typeof authBodies }) & {
  /** Calls per minute and client address, or per user if a session is required. */
  perMinute?: number;
  /** Requires a session, which is checked before the body is read. */
  needsSession?: boolean;
  bodyBytesMax?: number;
  /** The call tests a password, so it counts as a guess. */
  guesses?: boolean;
  makesAccount?: boolean;
};

const BODY_BYTES_MAX = 16 * 1024;

/** The sign-in library's calls that the web app needs; all others, e.g. to verify a password, stay closed. */
const ROUTES: AuthRoute[] = [
  // Used by pages that were loaded before an upgrade.
  { method: 'GET', path: '/get-session' },
  { method: 'GET', path: '/list-accounts', needsSession: true },
  { method: 'GET', path: '/callback/:provider' },
  { method: 'GET', path: '/reset-password/:token' },
  { method: 'GET', path: '/verify-email', needsSession: true },
  { method: 'GET', path: '/error' },
  { method: 'POST', path: '/sign-in/email', guesses: true },
  { method: 'POST', path: '/sign-in/social', perMinute: 10 },
  { method: 'POST', path: '/sign-up/email', perMinute: 20, makesAccount: true },
  { method: 'POST', path: '/sign-out' },
  { method: 'POST', path: '/request-password-reset', perMinute: 5 },
  { method: 'POST', path: '/send-verification-email', perMinute: 5, needsSession: true },
  { method: 'POST', path: '/reset-password', perMinute: 5 },
  { method: 'POST', path: '/link-social', perMinute: 10, needsSession: true },
  { method: 'POST', path: '/unlink-account', perMinute: 10, needsSession: true },
  { method: 'POST', path: '/change-password', perMinute: 5, needsSession: true, guesses: true },
  // The body includes the profile picture.
  {
    method: 'POST',
    path: '/update-user',
    perMinute: 20,
    needsSession: true,
    bodyBytesMax: 1024 * 1024 + 16_384,
  },
];

type FindUser = Authenticators['session'];

/** Returns the Fastify plugin that passes calls under `/api/auth` to the sign-in library. */
export function authRoutes(
  services: Services,
  auth: Auth,
  { findUser, countGuess }: { findUser: FindUser; countGuess: CountCall },
): (app: FastifyInstance) => Promise<void> {
  const { config } = services;
  return async (app) => {
    const countSignUp = limitSignUps(app, config);
    const countCall = limitBy(app, {
      name: 'sign-in calls',
      max: config.rateLimitPerMinute,
      keyOf: addressOf,
    });
    for (const route of ROUTES) {
      const { perMinute } = route;
      const countStrictly =
        perMinute === undefined
          ? null
          : limitBy(app, { name: `sign-in ${route.path}`, max: perMinute, keyOf: callerOf });
      app.route({
        method: route.method,
        url: AUTH_PATH + route.path,
        bodyLimit: route.bodyBytesMax ?? BODY_BYTES_MAX,
        schema: { hide: true, ...(route.method === 'POST' && { body: authBodies[route.path] }) },
        onRequest: async (request, reply) => {
          await countCall(request, reply);
          if (route.needsSession) request.caller = await requireUser(request, findUser);
        },
        preParsing: countStrictly ?? [],
        preHandler: [...(route.guesses ? [countGuess] : []), ...(route.makesAccount ? [countSignUp] : [])],
        handler: (request, reply) =>
          // The library decides during the call whether a provider's callback creates an account, so count it
          // then.
          countingSignUps(
            () => countSignUp(request, reply),
            () => forward(services, auth, { request, reply }),
          ),
      });
    }
    rejectOtherMethods(
      app,
      ROUTES.map(({ method, path }) => ({ method, path: AUTH_PATH + path })),
    );
  };
}

async function requireUser(request: FastifyRequest, findUser: FindUser) {
  const user = await findUser(request);
  if (!user) throw signInRequired();
  return user;
}

async function forward(
  { config, pool }: Services,
  auth: Auth,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): Promise<FastifyReply> {
  const response = await runWithHashQueue(addressOf(request), () => auth.handler(toWebRequest(request)));
  // The library hides why some calls failed. If the database is unavailable, report that instead.
  if (response.status >= 500) await requireDatabase(pool);
  reply.code(response.status);
  for (const [name, value] of response.headers) if (name !== 'set-cookie') reply.header(name, value);
  for (const cookie of response.headers.getSetCookie()) reply.header('set-cookie', cookie);
  const email = emailOf(request);
  const hasEntered =
    response.ok && email !== null && /\/sign-(in|up)\/email$/.test(request.routeOptions.url ?? '');
  if (hasEntered) {
    const isSecure = config.publicUrl.startsWith('https:');
    reply.header('set-cookie', makeDeviceCookie(email, { secret: serverSecret(config), isSecure }));
  }
  if (response.status >= 400) return reply.send(await refusalIn(response, request));
  return reply.send(response.body ? Buffer.from(await response.arrayBuffer()) : undefined);
}

/** Replaces messages of the library that lack advice. */
const sentences: Partial<Record<string, string>> = {
  invalid_origin:
    'Only a page of this server may do this. If it is reached by this name, set BAKEHOUSE_PUBLIC_URL to its address',
};
const refusal = z.object({ code: z.string().optional(), message: z.string().optional() });

/** Converts the library's error into the common error format, with its code in lower case. */
async function refusalIn(response: Response, { id }: FastifyRequest): Promise<ErrorBody> {
  const { status } = response;
  const details = refusal.safeParse(await response.json().catch(() => null)).data;
  const code = details?.code?.toLowerCase() ?? (status < 500 ? 'invalid_request' : 'internal');
  const message = sentences[code] ?? details?.message ?? STATUS_CODES[status] ?? 'Not possible';
  // The library's schemas produce messages such as '[body.callbackURL] must be text'.
  const [, param, what] = /^\[(?:body|query)\.([\w.]+)\] (.+)$/s.exec(message) ?? [];
  const refused =
    param && what
      ? { code: 'invalid_request', publicMessage: sentenceOf(param, what), param }
      : { code, publicMessage: message, param: null };
  return toErrorBody({ ...refused, status, data: {} }, id);
}

function toWebRequest(request: FastifyRequest): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    for (const one of [value].flat()) if (one !== undefined) headers.append(name, one);
  }
  headers.set(CLIENT_ADDRESS_HEADER, request.ip);
  // The body is serialised again after validation.
  headers.delete('content-length');
  const hasBody = request.body !== undefined && request.body !== null;
  if (!hasBody) headers.delete('content-type');
  else headers.set('content-type', 'application/json');
  const url = `${request.protocol}://${request.host}`;
  if (!/^[\w.:[\]-]+$/.test(request.host) || !URL.canParse(request.url, url)) {
    throw invalidParam('Host', 'The Host header is not valid');
  }
  return new Request(new URL(request.url, url), {
    method: request.method,
    headers,
    body: hasBody ? JSON.stringify(request.body) : null,
  });
}
