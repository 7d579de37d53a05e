import type { Endpoint } from '@bakehouse/contract/endpoint';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../errors.ts';
import type { DescribeError } from './bind.ts';
import { isAbsentCall, noSuchCall } from './no-such-call.ts';

type Call = Pick<Endpoint, 'method' | 'path'> & { describeError?: DescribeError | undefined };

/** Responds with 405 and the supported methods to other methods on these paths. */
export function refuseOtherMethods(app: FastifyInstance, calls: Call[]): void {
  for (const [path, own] of Map.groupBy(calls, (call) => call.path)) {
    const methods = new Set<string>(own.map(({ method }) => method));
    if (methods.has('GET')) methods.add('HEAD');
    const allowed = [...methods].join(', ');
    app.route({
      method: app.supportedMethods.filter((method) => !methods.has(method)),
      url: path,
      schema: { hide: true },
      config: { describeError: own[0]?.describeError },
      // Before the body is read.
      onRequest: async (request, reply) => {
        const [called = ''] = request.url.split('?');
        if (isAbsentCall(called))
          throw new AppError('not_found', { publicMessage: noSuchCall(request.method, called) });
        reply.header('allow', allowed);
        throw new AppError('method_not_allowed', {
          publicMessage: `${called} takes ${allowed}, not ${request.method}`,
        });
      },
      handler: async () => undefined,
    });
  }
}
