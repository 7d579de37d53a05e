import type { FastifyInstance } from 'fastify';

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
/** Response headers that browsers hide unless they are listed. */
const READABLE =
  'x-request-id, request-id, retry-after, x-should-retry, ratelimit-limit, ratelimit-remaining, ratelimit-reset, bakehouse-warning';
const PREFLIGHT_SECONDS = 24 * 60 * 60;

/**
 * Lets pages of every site call the paths of OpenAI's API (`/v1/…`), as OpenAI does. Cookies are not accepted
 * there, so a page can do no more than its key allows.
 */
export function allowOtherSites(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    if (!request.url.startsWith('/v1/')) return;
    reply.headers({ 'access-control-allow-origin': '*', 'access-control-expose-headers': READABLE });
    const { 'access-control-request-method': method, 'access-control-request-headers': headers } =
      request.headers;
    // Preflight requests carry no key.
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
