import type { Endpoint } from '@bakehouse/contract/endpoint';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const;

/** Answers 405, and names the methods that are, for each path of the endpoints that is called with another one. */
export function refuseOtherMethods(
  app: FastifyInstance,
  endpoints: Pick<Endpoint, 'method' | 'path'>[],
): void {
  for (const [path, own] of Map.groupBy(endpoints, (endpoint) => endpoint.path)) {
    const methods = new Set<string>(own.map(({ method }) => method));
    if (methods.has('GET')) methods.add('HEAD');
    const allowed = [...methods].join(', ');
    app.route({
      method: METHODS.filter((method) => !methods.has(method)),
      url: path,
      schema: { hide: true },
      // Before the body is read.
      onRequest: async (request, reply) => {
        reply.header('allow', allowed);
        throw new AppError('method_not_allowed', {
          publicMessage: `${request.url.split('?')[0]} takes ${allowed}, not ${request.method}`,
        });
      },
      handler: async () => undefined,
    });
  }
}
