import type { FastifyPluginAsync } from 'fastify';
import { AppError } from '../errors.ts';
import type { DescribeError } from './bind.ts';
import { noSuchCall } from './no-such-call.ts';

/** Responds to missing calls of another service's API with errors in that API's format. */
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
