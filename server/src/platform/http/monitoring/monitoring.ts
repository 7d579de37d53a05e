import { setTimeout as sleep } from 'node:timers/promises';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { Histogram, type Registry } from 'prom-client';
import type { Config } from '../../../config.ts';
import type { Services } from '../../context.ts';
import { AppError, forbidden, unauthenticated, unavailable } from '../../errors.ts';
import { isSameSecret } from '../../signature.ts';
import { onClose } from '../connection.ts';
import { sendError } from '../send-error.ts';

/** Prometheus waits only 10 s for the whole response by default. */
const METRIC_MS = 5_000;

/** Nginx's status for a client that disconnected before its response was complete. */
const CLIENT_LEFT = 499;

type Options = {
  metrics: Registry;
  /** With a token, any caller that sends it may read `/metrics`. Without one, only this machine may. */
  config: Pick<Config, 'metricsToken' | 'publicUrl'>;
  /** Rejects quickly if this process cannot serve requests, for example without its database. */
  checkReady: () => Promise<unknown>;
};

/** Mounts `/healthz` for liveness, `/readyz` for readiness and `/metrics` for Prometheus. */
export function mountHealth(app: FastifyInstance, { metrics, config, checkReady }: Options): void {
  const options = { schema: { hide: true } } as const;
  app.get('/healthz', options, async () => ({ status: 'ok' }));
  app.get('/readyz', options, async () => {
    await checkReady().catch((cause: unknown) => {
      if (cause instanceof AppError) throw cause;
      throw unavailable('The database does not answer or cannot be written to', { cause });
    });
    return { status: 'ok' };
  });
  app.get('/metrics', options, async (request, reply) => {
    assertMetricsAccess(request, config);
    return reply.type(metrics.contentType).send(await exposition(metrics));
  });
}

/** Returns the metrics in Prometheus' text format, and omits those that cannot be read now. */
async function exposition(metrics: Registry): Promise<string> {
  const parts = metrics.getMetricsAsArray().map(async ({ name }) => {
    const timeout = sleep(METRIC_MS, null, { ref: false });
    const text = await Promise.race([metrics.getSingleMetricAsString(name), timeout]).catch(() => null);
    return text ?? `# ${name} cannot be read`;
  });
  return `${(await Promise.all(parts)).join('\n\n')}\n`;
}

function assertMetricsAccess(request: FastifyRequest, { metricsToken, publicUrl }: Options['config']): void {
  if (metricsToken === null) {
    if (isThisMachine(request, publicUrl)) return;
    throw forbidden('Metrics are for this machine alone, unless BAKEHOUSE_METRICS_TOKEN is set');
  }
  if (isSameSecret(`Bearer ${metricsToken}`, request.headers.authorization ?? '')) return;
  throw unauthenticated('This metrics token is not valid');
}

/**
 * Returns true if the request comes from this machine itself, not through a proxy on it. A proxy sends
 * forwarding headers, or at least the requested host.
 */
function isThisMachine(request: FastifyRequest, publicUrl: string): boolean {
  const { headers, socket } = request.raw;
  const isForwarded = 'x-forwarded-for' in headers || 'forwarded' in headers || 'via' in headers;
  if (isForwarded || !/^(::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? '')) return false;
  return namesThisMachine(publicUrl) || namesThisMachine(`http://${headers.host}`);
}

function namesThisMachine(url: string): boolean {
  const host = URL.parse(url)?.hostname ?? '';
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Adds the duration of every request, by route and status, to the metrics. */
export function measureHttp(app: FastifyInstance, registry: Registry): void {
  const durations = new Histogram({
    name: 'bakehouse_http_request_duration_seconds',
    help: 'Time from the request line to the end of the answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 2000],
    registers: [registry],
  });
  app.addHook('onRequest', async (request, reply) => {
    const began = performance.now();
    // Fastify's own hook for the end of a request does not run if the client disconnects.
    onClose(reply, () => {
      // Label by the route's pattern. Paths contain ids, so they would create an unlimited number of series.
      const route = request.routeOptions.url ?? 'none';
      const status = reply.raw.writableFinished ? reply.statusCode : CLIENT_LEFT;
      durations.observe({ method: request.method, route, status }, (performance.now() - began) / 1000);
    });
  });
}

type MonitoringServerOptions = {
  services: Pick<Services, 'config' | 'log'>;
  metrics: Registry;
  /** Rejects quickly if this process cannot work, for example without its database. */
  checkReady: () => Promise<unknown>;
};

/** Builds the server of a process without the role web: `/healthz`, `/readyz` and `/metrics`. */
export function buildMonitoringServer({
  services,
  metrics,
  checkReady,
}: MonitoringServerOptions): FastifyInstance {
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
