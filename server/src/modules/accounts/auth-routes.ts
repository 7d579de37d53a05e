import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify';
import { AppError } from '../../platform/errors.ts';
import { addressOf, limitBy } from '../../platform/http/rate-limits.ts';
import { AUTH_PATH, type Auth, CLIENT_ADDRESS_HEADER } from './create-auth.ts';

/** Calls per minute and address. Guessing passwords is what these are against. */
const STRICT_LIMITS: [path: string, perMinute: number][] = [
  [`${AUTH_PATH}/sign-in/*`, 10],
  [`${AUTH_PATH}/sign-up/*`, 20],
  [`${AUTH_PATH}/request-password-reset`, 5],
  [`${AUTH_PATH}/reset-password`, 5],
  [`${AUTH_PATH}/change-password`, 5],
];

/**
 * Calls per minute that name one email address, from wherever they come: many addresses must not
 * guess one password together. Three times what one address may, so that no single one can keep an
 * account's owner out.
 */
const EMAIL_LIMIT = 30;

/** Makes the Fastify plugin that hands every call under `/api/auth` to the sign-in library. */
export function authRoutes(auth: Auth): (app: FastifyInstance) => Promise<void> {
  return async (app) => {
    // JSON alone, as the library's own paths have it: what it reads is what was counted and checked
    // here. This holds in this plugin alone.
    const parse = app.getDefaultJsonParser('error', 'error');
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('application/json', { parseAs: 'string' }, parse);
    app.addHook('preHandler', limitBy(app, { max: EMAIL_LIMIT, keyOf: emailOf }));

    const handler = (request: FastifyRequest, reply: FastifyReply) => forward(auth, request, reply);
    for (const [path, perMinute] of STRICT_LIMITS) app.post(path, limited(perMinute), handler);
    app.route({ method: ['GET', 'POST'], url: `${AUTH_PATH}/*`, handler });
  };
}

function limited(perMinute: number): RouteShorthandOptions {
  return {
    config: {
      rateLimit: {
        max: perMinute,
        timeWindow: '1 minute',
        keyGenerator: addressOf,
      },
    },
  };
}

function emailOf({ body }: FastifyRequest): string | null {
  if (typeof body !== 'object' || body === null || !('email' in body)) return null;
  return typeof body.email === 'string' ? body.email.toLowerCase() : null;
}

async function forward(auth: Auth, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const response = await auth.handler(toWebRequest(request));
  if (response.status === 404 && !response.body) {
    throw new AppError('not_found', {
      publicMessage: `There is no ${request.method} ${request.url.split('?')[0]}`,
    });
  }
  reply.code(response.status);
  for (const [name, value] of response.headers) if (name !== 'set-cookie') reply.header(name, value);
  for (const cookie of response.headers.getSetCookie()) reply.header('set-cookie', cookie);
  return reply.send(response.body ? Buffer.from(await response.arrayBuffer()) : undefined);
}

function toWebRequest(request: FastifyRequest): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    for (const one of [value].flat()) if (one !== undefined) headers.append(name, one);
  }
  headers.set(CLIENT_ADDRESS_HEADER, request.ip);
  // The body is written anew.
  headers.delete('content-length');
  return new Request(new URL(request.url, `${request.protocol}://${request.host}`), {
    method: request.method,
    headers,
    body: request.body === undefined ? null : JSON.stringify(request.body),
  });
}
