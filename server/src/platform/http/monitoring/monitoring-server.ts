import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Registry } from 'prom-client';
import type { Services } from '../../context.ts';
import { sendError } from '../send-error.ts';
import { mountHealth } from './health-routes.ts';

type Options = {
  services: Pick<Services, 'config' | 'log'>;
  metrics: Registry;
  /** Rejects quickly if this process cannot work, e.g. without its database. */
  checkReady: () => Promise<unknown>;
};

/** Builds the server of a process without the role web: `/healthz`, `/readyz` and `/metrics`. */
export function buildMonitoringServer({ services, metrics, checkReady }: Options): FastifyInstance {
  const log: FastifyBaseLogger = services.log.child({ part: 'monitoring' });
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
  });
  app.setErrorHandler(sendError);
  app.addHook('onRequest', async (request) => {
    request.caller = { kind: 'nobody' };
  });
  mountHealth(app, { metrics, checkReady, config: services.config });
  return app;
}
