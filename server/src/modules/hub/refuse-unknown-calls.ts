import type { FastifyPluginAsync } from 'fastify';
import { AppError } from '../../platform/errors.ts';
import { noSuchCall } from '../../platform/http/no-such-call.ts';
import { describeHubError } from './hub-error.ts';

/** Answers what the public hub has and this server has not with an error that the hub's clients read. */
export const refuseUnknownCalls: FastifyPluginAsync = async (app) => {
  for (const url of ['/hub/api/*', '/hub/datasets-server/*']) {
    app.all(url, {
      schema: { hide: true },
      config: { describeError: describeHubError },
      // Before the body is read.
      onRequest: async ({ method, url: called }) => {
        const [path = ''] = called.split('?');
        throw new AppError('not_found', { publicMessage: noSuchCall(method, path) });
      },
      handler: async () => undefined,
    });
  }
};
