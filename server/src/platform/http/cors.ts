import type { FastifyInstance } from 'fastify';

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
/** What clients read beside the body, and browsers hide unless it is named. */
const READABLE =
  'x-request-id, retry-after, x-should-retry, ratelimit-limit, ratelimit-remaining, ratelimit-reset';
const PREFLIGHT_SECONDS = 24 * 60 * 60;

/**
 * Lets pages of every site call the paths of OpenAI's API (`/v1/…`), as its own does. Nothing there is opened by a
 * cookie, so that a page can do no more than the key that it has.
 */
export function allowOtherSites(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    if (!request.url.startsWith('/v1/')) return;
    reply.headers({ 'access-control-allow-origin': '*', 'access-control-expose-headers': READABLE });
    const { 'access-control-request-method': method, 'access-control-request-headers': headers } =
      request.headers;
    // A browser asks before it sends a key.
    if (request.method !== 'OPTIONS' || method === undefined) return;
    return reply
      .code(204)
      .headers({
        'access-control-allow-methods': METHODS,
        ...(headers !== undefined && { 'access-control-allow-headers': headers }),
        'access-control-max-age': PREFLIGHT_SECONDS,
        vary: 'access-control-request-headers',
      })
      .send();
  });
}
