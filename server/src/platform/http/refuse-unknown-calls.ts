import type { FastifyPluginAsync } from 'fastify';
import { AppError } from '../errors.ts';
import type { DescribeError } from './bind.ts';
import { noSuchCall } from './no-such-call.ts';

/** Answers calls of another service's API that this server does not have with an error that the clients of that service read. */
export function refuseUnknownCalls(urls: string[], describeError: DescribeError): FastifyPluginAsync {
  return async (app) => {
    for (const url of urls) {
      app.all(url, {
        schema: { hide: true },
        config: { describeError },
        // Before the body is read.
        onRequest: async ({ method, url: called }) => {
          const [path = ''] = called.split('?');
          throw new AppError('not_found', { publicMessage: noSuchCall(method, path) });
        },
        handler: async () => undefined,
      });
    }
  };
}
